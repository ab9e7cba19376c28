// Package targets is the HTTP face of the targets, their checks and their status
// pages: their operations under /v1, their pages, the public pages and badges,
// and what other pages show of them.
package targets

import (
	"github.com/danielgtaylor/huma/v2"

	"linkwatch/handlers/api"
	"linkwatch/handlers/pages"
	"linkwatch/models/targets"
)

// Deps are what the handlers work with.
type Deps struct {
	*pages.Frame
	Targets  *targets.Store
	Stopping <-chan struct{} // closed when the program is about to stop

	Others []pages.Beside // what other systems show on the page of a target
}

// API is the operations under /v1.
type API struct{ *Deps }

// Pages are the pages.
type Pages struct{ *Deps }

// The groups of operations in the OpenAPI document.
const (
	groupTargets     = "Targets"
	groupHistory     = "History"
	groupStatusPages = "Status pages"
)

// Groups are the groups of the operations.
func Groups() []*huma.Tag {
	return []*huma.Tag{
		{Name: groupTargets, Description: "URLs that are checked on a schedule."},
		{Name: groupHistory, Description: "Check results, outages and uptime of targets."},
		{Name: groupStatusPages, Description: "Public pages that show the status of targets."},
	}
}

// Register adds the operations to the API.
func (a API) Register(r *api.API) {
	a.registerTargets(r)
	a.registerHistory(r)
	a.registerStatusPages(r)
}
