// Package api is the frame of the JSON API under /v1: it registers the systems'
// operations, reads their input, writes their answers and problems, and describes
// all of it in OpenAPI. It knows no system.
package api

import (
	"encoding/json"
	"fmt"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
)

// version is the API's, not the program's: it changes when /v1 does.
const version = "1.0.0"

const description = `Linkwatch looks after links. The groups of operations say what it does for them.

Errors are application/problem+json (RFC 9457). The type of a problem is the path of a page that explains it.
Times are RFC 3339 in UTC. Every member of a response is always present, and null if it is not known.
The same operations answer under /api/v1. HEAD is answered wherever GET is. An empty query parameter counts as left out.`

// API is the registered operations with their description.
type API struct {
	huma   huma.API
	errs   *middleware.Errors
	routes []middleware.Route
	system string // of the operations that are being registered
}

// New makes an API without operations on a router. tags are the groups of
// operations in the order in which the document lists them.
func New(r *gin.Engine, errs *middleware.Errors, tags ...*huma.Tag) *API {
	a := &API{errs: errs, huma: humagin.New(r, huma.Config{
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
					"basic": {Type: "http", Scheme: "basic", Description: "Any user name, and the admin password (ADMIN_PASSWORD), if the server has one"},
					"bearer": {
						Type: "http", Scheme: "bearer",
						Description: "A personal API token; or a JWT, signed with HS256 and the key of the server (AUTH_JWT_SECRET), if the server has one; or the admin password. " +
							"A JWT needs exp. Its role is admin, editor or viewer, and admin if left out",
					},
				},
			},
			Security: []map[string][]string{{}, {"basic": {}}, {"bearer": {}}}, // {}: open while there is no account, no password and no key; browsers send the cookie of their session
			Tags:     tags,
		},
		Formats:       formats,
		DefaultFormat: "application/json",
	})}
	a.huma.UseMiddleware(a.checkQuery, a.checkMedia)
	return a
}

// Of says of which system the operations are that are registered next.
func (a *API) Of(system string) { a.system = system }

// Routes are those of the operations registered so far, for the table of routes.
// The router has their handlers already.
func (a *API) Routes() []middleware.Route { return a.routes }

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
