// Package api is the JSON face: the operations of contract §3 to §5 and those of the
// scheduled jobs, under /v1, described by OpenAPI.
package api

import (
	"encoding/json"
	"fmt"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
	"linkwatch/models/cleanup"
	"linkwatch/models/links"
	"linkwatch/models/schedule"
	"linkwatch/models/shortlinks"
	"linkwatch/models/targets"
)

// version is the API's, not the program's: it changes when /v1 does.
const version = "1.0.0"

const description = `Linkwatch is a bookmark manager, an uptime monitor and a URL shortener. It saves links and notices
when they break, checks URLs on a schedule and keeps their history, and makes short links that can expire.

Errors are application/problem+json (RFC 9457). The type of a problem is the path of a page that explains it.
Times are RFC 3339 in UTC. Every member of a response is always present, and null if it is not known.
The same operations answer under /api/v1. HEAD is answered wherever GET is. An empty query parameter counts as left out.`

// Deps are what the operations work with.
type Deps struct {
	Links      *links.Store
	Targets    *targets.Store
	ShortLinks *shortlinks.Store
	Cleanup    *cleanup.Store
	Jobs       *schedule.Store
	Addresses  middleware.Addresses
	Errors     *middleware.Errors
	Metrics    *middleware.Metrics
	Stopping   <-chan struct{} // closed when the program is about to stop
}

// API is the registered operations.
type API struct {
	Deps
	huma huma.API
}

// Register adds every operation of the API to the router, and others that are
// served beside it to its document.
func Register(r *gin.Engine, d Deps, others ...middleware.Operation) *API {
	a := &API{Deps: d, huma: humagin.New(r, huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Linkwatch", Version: version, Description: description,
				License: &huma.License{Name: "MIT", Identifier: "MIT"},
			},
			Servers: []*huma.Server{{URL: "/"}},
			Components: &huma.Components{
				Headers: headers(), Responses: map[string]*huma.Response{},
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"basic":  {Type: "http", Scheme: "basic", Description: "Any user name, and the admin password"},
					"bearer": {Type: "http", Scheme: "bearer", Description: "The admin password"},
				},
			},
			Security: []map[string][]string{{}, {"basic": {}}, {"bearer": {}}}, // {}: open unless a password is set
			Tags: []*huma.Tag{
				{Name: tagLinks, Description: "Save links and find them again."},
				{Name: tagTags, Description: "Label links."},
				{Name: tagBulk, Description: "Change many links at once."},
				{Name: tagTargets, Description: "URLs that are checked on a schedule."},
				{Name: tagHistory, Description: "Check results, outages and uptime of targets."},
				{Name: tagStatusPages, Description: "Public pages that show the status of targets."},
				{Name: tagShortLinks, Description: "Short URLs that redirect and can expire."},
				{Name: tagCleanup, Description: "Delete expired data."},
				{Name: tagJobs, Description: "Jobs that run on a schedule."},
				{Name: "Health", Description: "Health and metrics of the server."},
			},
		},
		Formats:       formats,
		DefaultFormat: "application/json",
	})}
	a.huma.UseMiddleware(a.checkQuery, a.checkMedia)
	a.registerLinks()
	a.registerTags()
	a.registerBulk()
	a.registerTargets()
	a.registerHistory()
	a.registerStatusPages()
	a.registerShortLinks()
	a.registerCleanup()
	a.registerJobs()
	for _, o := range others {
		a.describe(o)
	}
	return a
}

// OpenAPI is the description of the API in OpenAPI 3.1, as indented JSON.
func (a *API) OpenAPI() ([]byte, error) {
	b, err := json.MarshalIndent(a.huma.OpenAPI(), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing OpenAPI: %w", err)
	}
	return append(b, '\n'), nil
}

// OpenAPI30 is the description in OpenAPI 3.0.3, for tools that do not read 3.1.
func (a *API) OpenAPI30() ([]byte, error) {
	b, err := a.huma.OpenAPI().Downgrade()
	if err == nil {
		b, err = strict30(b)
	}
	if err != nil {
		return nil, fmt.Errorf("writing OpenAPI 3.0: %w", err)
	}
	return append(b, '\n'), nil
}
