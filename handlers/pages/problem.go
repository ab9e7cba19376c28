package pages

import (
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
	"linkwatch/models"
	views "linkwatch/views/problems"
	"linkwatch/views/ui"
)

// ProblemTypeRoute returns the route of the pages that explain problem types.
func (f *Frame) ProblemTypeRoute() middleware.Route {
	return middleware.Route{
		Method: "GET", Path: "/probs/:slug", Needs: middleware.Public, Handler: f.problemType,
		Problem: func(c *gin.Context, p *middleware.Problem) { f.PublicProblem(c, p, views.NoProblemTypePage) },
	}
}

// problemType shows the page of a problem type. API clients get the same HTML page.
func (f *Frame) problemType(c *gin.Context) {
	t, ok := middleware.ProblemTypeOf(c.Param("slug"))
	if !ok {
		f.Fail(c, models.NotFound("problem type"))
		return
	}
	f.ShowCached(c, http.StatusOK, "public, max-age=3600", views.ProblemTypePage(views.ProblemType(t)))
}

// next is the advice on error pages, by status.
var next = map[int]string{
	http.StatusBadRequest:          "Go back and correct the input.",
	http.StatusForbidden:           "Open Linkwatch at its own URL and try again.",
	http.StatusNotFound:            "It may have been deleted. Check the URL for typos.",
	http.StatusConflict:            "Reload the page, then try again.",
	http.StatusUnprocessableEntity: "Nothing was changed. Try again later or use another URL.",
}

// Problem writes a problem as an error page.
func (f *Frame) Problem(c *gin.Context, problem *middleware.Problem) {
	v := views.Error{
		Page:    f.Page(problem.Title, "", ui.Flash{}),
		Heading: problem.Title,
		Detail:  pageDetail(problem.Detail),
		Next:    next[problem.Status],
	}
	if problem.Status >= http.StatusInternalServerError {
		v.Next = "Try again. If the error persists, look for this request ID in the server log."
	}
	if a, _ := models.ActorOf(c.Request.Context()); a.Via != "" && problem.Status == http.StatusForbidden {
		v.Next = "Ask an admin for access."
	}
	v.RequestID = middleware.RequestID(c.Request.Context())
	c.Header("HX-Reswap", "none") // htmx must not insert the error page into the page
	f.Show(c, problem.Status, views.ErrorPage(v))
}

// PublicProblem writes a problem as a public page, without navigation and internal details.
func (f *Frame) PublicProblem(c *gin.Context, problem *middleware.Problem, page func(ui.PublicProblem) templ.Component) {
	v := ui.PublicProblem{Heading: problem.Title, Detail: problem.Detail}
	switch {
	case problem.Status == http.StatusNotFound:
		v.Detail = "This page does not exist. It may have been deleted. Check the URL for typos."
	case problem.Status >= http.StatusInternalServerError:
		v.Detail, v.RequestID = "Try again later.", middleware.RequestID(c.Request.Context())
	}
	c.Header("HX-Reswap", "none")
	f.Show(c, problem.Status, page(v))
}

// pageDetail returns the detail of a problem for a page: "query.page: must be …" becomes "Page must be ….".
func pageDetail(detail string) string {
	if rest, ok := strings.CutPrefix(detail, "query."); ok {
		return sentence(strings.Replace(rest, ":", "", 1))
	}
	return detail
}
