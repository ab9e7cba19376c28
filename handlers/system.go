package handlers

import (
	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/views/ui"
)

// System is what one system gives to the server. All parts may be left out. The
// order of the systems is that of the navigation, of the overview and of the
// groups in the OpenAPI document.
type System struct {
	Name     string         // as scopes of API tokens name it: "links"
	Nav      ui.Nav         // its entries of the navigation, the admin pages and the keyboard help
	Overview pages.Overview // what it shows on the overview
	Finders  []pages.Finder // its kinds of things in the search over everything
	Flash    pages.Flash    // what its pages say after its actions

	Routes     []middleware.Route       // its pages, and what else is outside of /v1
	Described  []middleware.Operation   // those of them that the OpenAPI document describes
	Operations func(*api.API)           // registers its operations under /v1
	Groups     []*huma.Tag              // the groups of these operations
	Health     []middleware.HealthCheck // what /health reports of it
	// Alias returns the path that another path stands for; ok is false if it has none.
	Alias func(path string) (to string, ok bool)
	Host  Host // a host of its own
}

// Host is a host that serves routes of one system and nothing else.
type Host struct {
	Name    string // "" = there is none
	Routes  []middleware.Route
	Problem func(*gin.Context, *middleware.Problem) // shows a problem to a person
}
