package web

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
	"linkwatch/models"
	views "linkwatch/views/problems"
)

// ProblemRoute is where the type of a problem document leads.
const ProblemRoute = "/probs/:slug"

// ProblemType explains a type of problem. Programs get the same page as people.
func (p *Pages) ProblemType(c *gin.Context) {
	t, ok := middleware.ProblemTypeOf(c.Param("slug"))
	if !ok {
		p.fail(c, models.NotFound("type of problem"))
		return
	}
	p.showKept(c, http.StatusOK, "public, max-age=3600", views.ProblemTypePage(views.ProblemType(t)))
}
