// Package api contains the shared parts of the JSON API under /v1: registration of operations,
// input, responses, problems and the OpenAPI document. It names no system.
package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
)

// version is the version of the API, not of the program.
const version = "1.0.0"

const description = `Linkwatch saves links, monitors URLs, shortens links, crawls sites and checks their sitemaps.

Errors are application/problem+json (RFC 9457). The type of a problem is the path of a page that explains it.
Times are RFC 3339 in UTC. All members of a response are always present. Unknown values are null.
The operations are also available under /api/v1. HEAD works wherever GET does. An empty query parameter is ignored.
An unknown query parameter is 400, and so is one that is given twice.

A response with one item has an ETag, which changes when a user changes the item. A request that changes the item and has If-Match
with an old ETag is 412, and the problem has the item as current. Without If-Match, the last change wins.

Lists are also available as CSV, with Accept: text/csv. A column is a member of the items, or a member of an object in it, such as actor.name.
Lists in items are JSON. An unknown value is empty. The header Link has the URL of the next page, if there is one.`

// API holds the registered operations and their OpenAPI description.
type API struct {
	huma     huma.API
	errs     *middleware.Errors
	path     string // of PUBLIC_URL; "" = none
	routes   []middleware.Route
	system   string                   // of the operations that are being registered
	items    map[string]item          // by the path of their GET
	editable map[reflect.Type][][]int // fields of the ETag, by the type of the body
}

// New returns an API without operations on a router. path is that of PUBLIC_URL; "" = none. tags are the groups of
// operations, in the order of the document.
func New(r *gin.Engine, errs *middleware.Errors, path string, tags ...*huma.Tag) *API {
	a := &API{errs: errs, path: path, items: map[string]item{}, editable: map[reflect.Type][][]int{}}
	a.huma = humagin.New(r, huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Linkwatch", Version: version, Description: description,
				License: &huma.License{Name: "MIT", Identifier: "MIT"},
			},
			Servers: []*huma.Server{{URL: cmp.Or(path, "/")}},
			Components: &huma.Components{
				Headers: headers(), Responses: map[string]*huma.Response{},
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"basic": {Type: "http", Scheme: "basic", Description: "Any user name with the admin password (ADMIN_PASSWORD), if the server has one"},
					"bearer": {
						Type: "http", Scheme: "bearer",
						Description: "A personal API token, the admin password, or a JWT signed with HS256 and the key of the server (AUTH_JWT_SECRET). " +
							"A JWT needs the claim exp. Its claim role is admin, editor or viewer (default: admin)",
					},
				},
			},
			Security: []map[string][]string{{}, {"basic": {}}, {"bearer": {}}}, // {}: no credentials are needed without accounts, password and key; browsers send a session cookie
			Tags:     tags,
		},
		Formats:       formats,
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{describeTable, a.addETag, problemFor},
	})
	a.huma.UseMiddleware(a.checkQuery, a.checkMedia, upperTimes, negotiate, a.checkMatch)
	return a
}

// problemFor is a transformer that makes a problem one for the client.
func problemFor(ctx huma.Context, _ string, v any) (any, error) {
	if p, ok := v.(*middleware.Problem); ok {
		return p.For(ctx.Context()), nil
	}
	return v, nil
}

// Of sets the system of the operations that are registered next.
func (a *API) Of(system string) { a.system = system }

// Routes returns the routes of all registered operations, without handlers: the router
// already has them.
func (a *API) Routes() []middleware.Route { return a.routes }

// OpenAPI returns the OpenAPI 3.1 document as indented JSON.
func (a *API) OpenAPI() ([]byte, error) {
	b, err := json.MarshalIndent(a.huma.OpenAPI(), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write OpenAPI: %w", err)
	}
	return append(b, '\n'), nil
}

// OpenAPI30 returns the OpenAPI 3.0.3 document, for tools that do not support 3.1.
func (a *API) OpenAPI30() ([]byte, error) {
	b, err := a.huma.OpenAPI().Downgrade()
	if err == nil {
		b, err = strict30(b)
	}
	if err != nil {
		return nil, fmt.Errorf("write OpenAPI 3.0: %w", err)
	}
	return append(b, '\n'), nil
}
