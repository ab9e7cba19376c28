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

// notFound answers requests that no route is for. GET and HEAD of a page with a
// slash at its end are redirected to the page, with the query; all else is 404.
// The API and other methods do not get this: a client that sends them has the
// wrong address and should learn so.
func notFound(errs *middleware.Errors, routes []middleware.Route) gin.HandlerFunc {
	var templates [][]string // their segments
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

// matches says whether a path is at a route, given by its segments. An empty
// segment is at none, so that no path that begins with two slashes is.
func matches(path string) func(template []string) bool {
	segments := strings.Split(path, "/")
	return func(template []string) bool {
		return slices.EqualFunc(template, segments, func(want, got string) bool {
			return want == got || got != "" && strings.HasPrefix(want, ":")
		})
	}
}
