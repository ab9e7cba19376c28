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

// noStore is the Cache-Control of redirects: a short link can expire at any time, and
// each visit counts.
const noStore = "private, no-store"

// Headers of every redirect. All responses share them; they are never changed.
var (
	noStoreHeader = []string{noStore}
	noIndexHeader = []string{"noindex"}
)

var redirectOperation = middleware.Operation{
	Methods: []string{http.MethodGet, http.MethodHead}, Path: redirectRoute, ID: "follow-short-link", Tag: groupShortLinks, Public: true,
	Summary: "Follow a short link",
	Description: "Counts a visit. HEAD requests, prefetches (Sec-Purpose), link previews and bots are no visits. " +
		"On SHORT_HOST the path is /{key}. Browsers get a page instead of a problem document. " +
		"An expired short link returns 410 from that moment.",
	Params: []middleware.Param{
		{Name: "key", In: "path", Example: "abc2XYZ", Description: "Short key. It is case-sensitive"},
		{Name: "preview", In: "query", Example: "1", Description: "1 returns the destination instead of redirecting. Does not count a visit"},
	},
	Responses: []middleware.Response{
		{
			Status: http.StatusFound, Description: "Redirect to the destination",
			Headers: map[string]string{"Location": "Destination", "Cache-Control": "Always " + noStore},
		},
		{
			Status: http.StatusOK,
			Description: "The destination, if preview is 1. Otherwise a text without it, if the short link has a visit limit " +
				"and the request is no visit. Browsers get a page",
			Headers: map[string]string{"Cache-Control": "Always " + noStore},
			Content: map[string]any{"application/json": ShortPreview{}, "text/html": nil, "text/plain": nil},
		},
	},
	Problems: []models.Code{models.CodeNotFound, models.CodeGone, models.CodeUnavailable},
}

// Redirect redirects to the destination of a key, or shows it with ?preview=1. Other
// query parameters are ignored and not passed on. This is the busiest route: it runs
// tens of thousands of times per second.
func (p Pages) Redirect(c *gin.Context) {
	r, h := c.Request, c.Writer.Header()
	h["Cache-Control"] = noStoreHeader
	h["X-Robots-Tag"] = noIndexHeader
	if r.URL.RawQuery != "" && c.Query("preview") == "1" {
		p.preview(c)
		return
	}
	v := shortlinks.Visitor{Referrer: r.Referer(), UserAgent: r.UserAgent(), Ahead: isAhead(r)}
	longURL, err := p.ShortLinks.Visit(r.Context(), c.Param("key"), v)
	if err != nil {
		p.Fail(c, err)
		return
	}
	if longURL == "" {
		p.withhold(c)
		return
	}
	// A redirect has no page to protect, and the referring site decides about the referrer and the opener.
	for _, name := range []string{"Content-Security-Policy", "Permissions-Policy", "Referrer-Policy", "Cross-Origin-Opener-Policy"} {
		delete(h, name)
	}
	h["Location"] = []string{longURL} // not http.Redirect, which cleans paths
	c.Writer.WriteHeader(http.StatusFound)
}

// purposeHeaders are the headers of requests that a browser sends before a person opens the link: Sec-Purpose of the
// Fetch standard, and those of browsers before it.
var purposeHeaders = []string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"}

// isAhead reports whether a request is HEAD, or to prefetch, prerender or preview the short link.
func isAhead(r *http.Request) bool {
	if r.Method == http.MethodHead {
		return true
	}
	for _, name := range purposeHeaders {
		for _, value := range r.Header[name] {
			value = strings.ToLower(value)
			for _, purpose := range []string{"prefetch", "prerender", "preview"} {
				if strings.Contains(value, purpose) {
					return true
				}
			}
		}
	}
	return false
}

// withhold answers a request that is no visit, for a short link with a visit limit. The answer has nothing of the
// destination. A browser may show the page later; its link is then a visit.
func (p Pages) withhold(c *gin.Context) {
	if !middleware.WantsPage(c.Request) {
		c.String(http.StatusOK, views.Withheld+"\n")
		return
	}
	p.ShowCached(c, http.StatusOK, noStore, views.WithheldPage(pathOf(c)))
}

// pathOf returns the URL path of the short link of a request.
func pathOf(c *gin.Context) string { return strings.TrimSuffix(c.Request.URL.Path, "/") }

// ShortPreview is the destination of a short link in the API.
type ShortPreview struct {
	ShortKey  string     `json:"short_key" example:"abc2XYZ" doc:"Short key"`
	LongURL   string     `json:"long_url" example:"https://example.com/spring?campaign=7" doc:"Destination. Only its scheme and host if the short link has a visit limit"`
	Title     string     `json:"title" example:"Spring campaign" doc:"Title. Empty if it has none"`
	ExpiresAt *time.Time `json:"expires_at" example:"2025-04-24T12:00:00Z" doc:"Time of expiry. null if it never expires"`
}

// preview renders the destination without counting a visit.
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
	v := views.Preview{Entry: e, Path: pathOf(c), Now: p.ShortLinks.Now().Time}
	p.ShowCached(c, http.StatusOK, noStore, views.PreviewPage(v))
}

// RedirectProblem renders the error page for visitors.
func (p Pages) RedirectProblem(c *gin.Context, problem *middleware.Problem) {
	v := ui.PublicProblem{Heading: problem.Title, Detail: problem.Detail}
	switch {
	case problem.Status == http.StatusNotFound:
		v.Heading, v.Detail = "Short link not found", "Check the spelling: keys are case-sensitive."
	case problem.Status == http.StatusGone:
		v.Heading = "This short link is no longer available"
	case problem.Status >= http.StatusInternalServerError:
		v.Detail, v.RequestID = "Try again in a moment.", middleware.RequestID(c.Request.Context())
	}
	p.ShowCached(c, problem.Status, noStore, views.RedirectProblemPage(v))
}
