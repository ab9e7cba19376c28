package shortlinks

import (
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/shortlinks"
	views "linkwatch/views/shortlinks"
	"linkwatch/views/ui"
)

// keepNot is the Cache-Control of whatever a key leads to: it may end at any
// instant, and each visit counts.
const keepNot = "private, no-store"

// Headers of every redirect. They are shared by all answers and never changed.
var (
	keepNotHeader = []string{keepNot}
	noIndexHeader = []string{"noindex"}
)

// redirectOperation describes Redirect.
var redirectOperation = middleware.Operation{
	Methods: []string{http.MethodGet, http.MethodHead}, Path: redirectRoute, ID: "follow-short-link", Tag: groupShortLinks, Public: true,
	Summary: "Follow a short link",
	Description: "Counts a visit. On SHORT_HOST the path is /{key}. Browsers get a page in place of a problem. " +
		"The response changes at the instant at which the short link expires.",
	Params: []middleware.Param{
		{Name: "key", In: "path", Example: "abc2XYZ", Description: "Short key. It is case-sensitive"},
		{Name: "preview", In: "query", Example: "1", Description: "1 shows the destination in place of redirecting. It is not counted as a visit"},
	},
	Responses: []middleware.Response{
		{
			Status: http.StatusFound, Description: "Redirect to the destination",
			Headers: map[string]string{"Location": "Destination", "Cache-Control": "Always " + keepNot},
		},
		{
			Status: http.StatusOK, Description: "Destination, if preview is 1. Browsers get a page",
			Headers: map[string]string{"Cache-Control": "Always " + keepNot},
			Content: map[string]any{"application/json": ShortPreview{}, "text/html": nil},
		},
	},
	Problems: []models.Code{models.CodeNotFound, models.CodeGone, models.CodeUnavailable},
}

// Redirect redirects to the destination of a key, or with ?preview=1 shows it. The
// rest of the query is ignored and not passed on. It is the program's busiest route
// by far: its code runs tens of thousands of times a second.
func (p Pages) Redirect(c *gin.Context) {
	r, h := c.Request, c.Writer.Header()
	h["Cache-Control"] = keepNotHeader
	h["X-Robots-Tag"] = noIndexHeader
	if r.URL.RawQuery != "" && c.Query("preview") == "1" {
		p.preview(c)
		return
	}
	longURL, err := p.ShortLinks.Visit(r.Context(), c.Param("key"), shortlinks.Visitor{Referrer: r.Referer(), UserAgent: r.UserAgent()})
	if err != nil {
		p.Fail(c, err)
		return
	}
	// There is no page to guard, and what the next site may learn of the one
	// before it is up to that one.
	delete(h, "Content-Security-Policy")
	delete(h, "Referrer-Policy")
	h["Location"] = []string{longURL} // as it is: http.Redirect cleans paths
	c.Writer.WriteHeader(http.StatusFound)
}

// ShortPreview is the destination of a short link, for programs.
type ShortPreview struct {
	ShortKey  string     `json:"short_key" example:"abc2XYZ" doc:"Short key"`
	LongURL   string     `json:"long_url" example:"https://example.com/spring?campaign=7" doc:"Destination. Only its scheme and host if the short link has a visit limit"`
	Title     string     `json:"title" example:"Spring campaign" doc:"Title. Empty if it has none"`
	ExpiresAt *time.Time `json:"expires_at" example:"2025-04-24T12:00:00Z" doc:"When the short link expires. null if it does not"`
}

// preview shows the destination of a key. It does not count as a visit.
func (p Pages) preview(c *gin.Context) {
	key := c.Param("key")
	e, err := p.ShortLinks.Preview(c.Request.Context(), key)
	if err != nil {
		p.Fail(c, err)
		return
	}
	if !middleware.WantsPage(c.Request) {
		c.PureJSON(http.StatusOK, ShortPreview{key, e.LongURL, e.Title, e.ExpiresAt})
		return
	}
	v := views.Preview{Entry: e, Path: strings.TrimSuffix(c.Request.URL.Path, "/"), Now: p.ShortLinks.Now().Time}
	p.ShowKept(c, http.StatusOK, keepNot, views.PreviewPage(v))
}

// RedirectProblem shows a visitor why a key has no destination.
func (p Pages) RedirectProblem(c *gin.Context, problem *middleware.Problem) {
	v := ui.PublicProblem{Heading: problem.Title, Detail: problem.Detail}
	switch {
	case problem.Status == http.StatusNotFound:
		v.Heading, v.Detail = "No such short link", "There is nothing at this address. Check the spelling: keys are case-sensitive."
	case problem.Status == http.StatusGone:
		v.Heading = "This short link is no longer available"
	case problem.Status >= http.StatusInternalServerError:
		v.Detail, v.RequestID = "Try again in a moment.", middleware.RequestID(c.Request.Context())
	}
	p.ShowKept(c, problem.Status, keepNot, views.RedirectProblemPage(v))
}
