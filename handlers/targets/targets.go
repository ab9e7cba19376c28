// Package targets handles HTTP requests about targets, checks and status pages: the API
// under /v1, the pages, and the public status pages, feeds and badges.
package targets

import (
	"github.com/danielgtaylor/huma/v2"

	"linkwatch/handlers/api"
	"linkwatch/handlers/pages"
	"linkwatch/models/targets"
)

// Deps is the dependencies of the handlers.
type Deps struct {
	*pages.Frame
	Targets  *targets.Store
	Stopping <-chan struct{} // closed when the process starts to shut down

	Others []pages.Related // sections of other systems on the page of a target
}

// API has the operations under /v1.
type API struct{ *Deps }

// Pages has the pages.
type Pages struct{ *Deps }

// The groups of operations in the OpenAPI document.
const (
	groupTargets     = "Targets"
	groupHistory     = "History"
	groupStatusPages = "Status pages"
)

// Groups returns the groups of operations.
func Groups() []*huma.Tag {
	return []*huma.Tag{
		{Name: groupTargets, Description: "URLs that are checked on a schedule."},
		{Name: groupHistory, Description: "Check results, outages and uptime of targets."},
		{Name: groupStatusPages, Description: "Public pages with the status of targets, their feeds and badges."},
	}
}

// Register adds the operations to the API.
func (a API) Register(r *api.API) {
	a.registerTargets(r)
	a.registerHistory(r)
	a.registerStatusPages(r)
}
