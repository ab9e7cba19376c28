package handlers

import (
	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/views/ui"
)

// System is the part of the server that one system provides. All fields are optional. The
// order of the systems is the order in the navigation, on the overview and in the OpenAPI document.
type System struct {
	Name     string         // as in scopes of API tokens: "links"
	Nav      ui.Nav         // entries of the navigation, the admin pages and the keyboard help
	Overview pages.Overview // its section of the overview; nil = none
	Finders  []pages.Finder // its parts of the global search
	Flash    pages.Flash    // messages after its actions

	Routes     []middleware.Route       // pages and other routes outside of /v1
	Described  []middleware.Operation   // routes outside of /v1 that the OpenAPI document describes
	Operations func(*api.API)           // registers its operations under /v1
	Groups     []*huma.Tag              // tags of these operations
	Health     []middleware.HealthCheck // its members of the /health report
	Samples    prometheus.Gatherer      // metrics with a sample for each of many items; nil = none
	// Alias returns the path that an alias refers to; ok is false if the path is not an alias.
	Alias func(path string) (to string, ok bool)
	Host  Host // dedicated host of the system
}

// Host is a host name that serves routes of one system only.
type Host struct {
	Name    string // "" = no dedicated host
	Routes  []middleware.Route
	Problem func(*gin.Context, *middleware.Problem) // writes a problem as HTML
}
