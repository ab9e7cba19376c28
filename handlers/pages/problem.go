package pages

import (
	"net/http"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
	"linkwatch/models"
	views "linkwatch/views/problems"
	"linkwatch/views/ui"
)

// ProblemTypeRoute is where the type of a problem document leads.
func (f *Frame) ProblemTypeRoute() middleware.Route {
	return middleware.Route{
		Method: "GET", Path: "/probs/:slug", Needs: middleware.Public, Handler: f.problemType,
		Problem: func(c *gin.Context, p *middleware.Problem) { f.PublicProblem(c, p, views.NoProblemTypePage) },
	}
}

// problemType explains a type of problem. Programs get the same page as people.
func (f *Frame) problemType(c *gin.Context) {
	t, ok := middleware.ProblemTypeOf(c.Param("slug"))
	if !ok {
		f.Fail(c, models.NotFound("type of problem"))
		return
	}
	f.ShowKept(c, http.StatusOK, "public, max-age=3600", views.ProblemTypePage(views.ProblemType(t)))
}

// next is what to do about a problem, by its status.
var next = map[int]string{
	http.StatusBadRequest:          "Go back and change what you entered; nothing was stored.",
	http.StatusForbidden:           "Open this page by its own address and try again.",
	http.StatusNotFound:            "It may have been deleted. Check the address for typing errors.",
	http.StatusConflict:            "Reload the page, then try again.",
	http.StatusUnprocessableEntity: "Nothing was changed. Try again later, or with another address.",
}

// Problem shows a problem to a person.
func (f *Frame) Problem(c *gin.Context, problem *middleware.Problem) {
	v := views.Error{
		Page:    f.Page(problem.Title, "", ui.Flash{}),
		Heading: problem.Title,
		Detail:  problem.Detail,
		Next:    next[problem.Status],
	}
	if problem.Status >= http.StatusInternalServerError {
		v.Next = "Try again. If it stays, look in the log for this request."
	}
	if a, _ := models.ActorOf(c.Request.Context()); a.Via != "" && problem.Status == http.StatusForbidden {
		v.Next = "Ask an admin if you need it."
	}
	v.RequestID = middleware.RequestID(c.Request.Context())
	c.Header("HX-Reswap", "none") // no place of a page is meant for this
	f.Show(c, problem.Status, views.ErrorPage(v))
}

// PublicProblem shows a problem to a stranger on a page of the public frame:
// strangers see nothing of the program's own, even if something is wrong.
func (f *Frame) PublicProblem(c *gin.Context, problem *middleware.Problem, page func(ui.PublicProblem) templ.Component) {
	v := ui.PublicProblem{Heading: problem.Title, Detail: problem.Detail}
	switch {
	case problem.Status == http.StatusNotFound:
		v.Detail = "There is nothing at this address. Check it for typing errors. The page may also have been deleted."
	case problem.Status >= http.StatusInternalServerError:
		v.Detail, v.RequestID = "Try again in a moment.", middleware.RequestID(c.Request.Context())
	}
	c.Header("HX-Reswap", "none")
	f.Show(c, problem.Status, page(v))
}
