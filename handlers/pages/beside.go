package pages

import (
	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"
)

// Subject is the URL that a page is about, as one system tells it to others.
type Subject struct{ URL, CanonicalURL, Title string }

// Beside shows on a page of one system what another one has about its subject:
// whether it is watched, which short link leads to it.
type Beside func(c *gin.Context, s Subject) (templ.Component, error)
