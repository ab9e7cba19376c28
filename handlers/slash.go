package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/models"
)

// notFound answers requests that match no route. GET and HEAD of a page with a trailing
// slash redirect to the page and keep the query; everything else is 404. API paths and other
// methods are not redirected, so that a client notices its wrong URL.
func notFound(errs *middleware.Errors, routes []middleware.Route) gin.HandlerFunc {
	var templates [][]string // segments of the paths
	for _, r := range routes {
		if r.Method == http.MethodGet && !middleware.IsAPI(r.Path) && r.Path != "/" {
			templates = append(templates, strings.Split(r.Path, "/"))
		}
	}
	return func(c *gin.Context) {
		path, slash := strings.CutSuffix(c.Request.URL.Path, "/")
		reads := c.Request.Method == http.MethodGet || c.Request.Method == http.MethodHead
		if !slash || !reads || !slices.ContainsFunc(templates, matches(path)) {
			errs.Write(c, models.NotFound("page"))
			return
		}
		to := url.URL{Path: path, RawQuery: c.Request.URL.RawQuery}
		pages.RedirectTo(c, http.StatusMovedPermanently, to.String())
	}
}

// matches reports whether a path matches a route, given by its segments. An empty segment
// matches nothing, so a path that starts with "//" matches no route.
func matches(path string) func(template []string) bool {
	segments := strings.Split(path, "/")
	return func(template []string) bool {
		return slices.EqualFunc(template, segments, func(want, got string) bool {
			return want == got || got != "" && strings.HasPrefix(want, ":")
		})
	}
}
