package pages

import (
	"context"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"
)

// Subject is what a page of one system is about, as other systems see it.
type Subject struct {
	URL, CanonicalURL, Title string
	Path                     string // of the page
	PrivateTo                string // the owner of a private subject, for which only private items are added; "" = it is shared
}

// Shown is what one system shows on a page of another: nil parts show nothing.
type Shown struct {
	Action  templ.Component // beside the page's own actions, on pages that have a place for it
	Section templ.Component
}

// Beside returns what a system shows on the page of another system about its
// subject, such as whether it is watched.
type Beside func(c *gin.Context, s Subject) (Shown, error)

// ShowBeside returns what several systems show about a subject, in their order.
func ShowBeside(c *gin.Context, s Subject, all []Beside) (actions, sections []templ.Component, err error) {
	for _, of := range all {
		shown, err := of(c, s)
		if err != nil {
			return nil, nil, err
		}
		if shown.Action != nil {
			actions = append(actions, shown.Action)
		}
		if shown.Section != nil {
			sections = append(sections, shown.Section)
		}
	}
	return actions, sections, nil
}

// SubjectOf returns the subject of the record with an id; CodeNotFound if there is none.
type SubjectOf func(ctx context.Context, id string) (Subject, error)
