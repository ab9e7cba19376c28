// Package api is the JSON face: the operations of contract §3 to §5 and those of the
// scheduled jobs, under /v1, described by OpenAPI.
package api

import (
	"encoding/json"
	"fmt"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"

	"github.com/linkwatch/linkwatch/handlers/httpx"
	"github.com/linkwatch/linkwatch/models/cleanup"
	"github.com/linkwatch/linkwatch/models/links"
	"github.com/linkwatch/linkwatch/models/schedule"
	"github.com/linkwatch/linkwatch/models/shortlinks"
	"github.com/linkwatch/linkwatch/models/targets"
)

// version is the API's, not the program's: it changes when /v1 does.
const version = "1.0.0"

const description = `Linkwatch looks after links: it saves them with their title and picture, tags them, finds them again,
and notices when they die. It watches URLs: it checks them on time, and keeps the history of what it found. And it
shortens them, for as long as they shall last.

Errors are application/problem+json (RFC 9457). The type of a problem is the address of a page that explains it,
relative to this server. Times are RFC 3339 in UTC; null means never. Every response carries
X-Request-Id. The same operations answer under /api/v1. HEAD is answered wherever GET is.`

// Deps are what the operations work with.
type Deps struct {
	Links      *links.Store
	Targets    *targets.Store
	ShortLinks *shortlinks.Store
	Cleanup    *cleanup.Store
	Jobs       *schedule.Store
	Addresses  httpx.Addresses
	Errors     *httpx.Errors
	Metrics    *httpx.Metrics
	Stopping   <-chan struct{} // closed when the program is about to stop
}

// API is the registered operations.
type API struct {
	Deps
	huma huma.API
}

// Register adds every operation of the API to the router.
func Register(r *gin.Engine, d Deps) *API {
	a := &API{Deps: d, huma: humagin.New(r, huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Linkwatch", Version: version, Description: description,
				License: &huma.License{Name: "MIT", Identifier: "MIT"},
			},
			Servers: []*huma.Server{{URL: "/"}},
			Components: &huma.Components{
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"basic":  {Type: "http", Scheme: "basic", Description: "any user name, and the admin password"},
					"bearer": {Type: "http", Scheme: "bearer", Description: "the admin password"},
				},
			},
			Security: []map[string][]string{{}, {"basic": {}}, {"bearer": {}}}, // {}: open unless a password is set
			Tags: []*huma.Tag{
				{Name: tagLinks, Description: "Saved links"},
				{Name: tagTags, Description: "Words that links are filed under"},
				{Name: tagBulk, Description: "Many links at once"},
				{Name: tagTargets, Description: "Watched URLs"},
				{Name: tagHistory, Description: "What the checks of the targets found"},
				{Name: tagStatusPages, Description: "Public pages of groups of targets"},
				{Name: tagShortLinks, Description: "Short addresses that end when they are told to"},
				{Name: tagCleanup, Description: "The reaper, which deletes expired data"},
				{Name: tagJobs, Description: "Scheduled jobs"},
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
	if err != nil {
		return nil, fmt.Errorf("writing OpenAPI 3.0: %w", err)
	}
	return append(b, '\n'), nil
}
