package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
)

// returns gives each path of a form that answers only POST a GET route. It redirects to the nearest page above the path: a
// form that failed leaves its path in the address bar, which a user may reload or bookmark. They show nothing, so Routes does
// not list them.
func returns(routes []middleware.Route) (all []middleware.Route) {
	page := func(path string) *middleware.Route {
		i := slices.IndexFunc(routes, func(r middleware.Route) bool { return r.Method == http.MethodGet && r.Path == path })
		if i < 0 {
			return nil
		}
		return &routes[i]
	}
	for _, r := range routes {
		if r.Method != http.MethodPost || middleware.IsAPI(r.Path) || r.Machine || page(r.Path) != nil {
			continue
		}
		to := page("/")
		for path := r.Path; path != ""; path = path[:strings.LastIndex(path, "/")] {
			if above := page(path); above != nil {
				to = above
				break
			}
		}
		all = append(all, middleware.Route{Method: http.MethodGet, Path: r.Path, Needs: to.Needs, System: r.System, Secret: r.Secret, Handler: redirectTo(to.Path)})
	}
	return all
}

// redirectTo redirects to a route with the parameters of the request.
func redirectTo(route string) gin.HandlerFunc {
	return func(c *gin.Context) {
		parts := strings.Split(route, "/")
		for i, part := range parts {
			if name, ok := strings.CutPrefix(part, ":"); ok {
				parts[i] = url.PathEscape(c.Param(name))
			}
		}
		pages.RedirectTo(c, http.StatusFound, strings.Join(parts, "/"))
	}
}
