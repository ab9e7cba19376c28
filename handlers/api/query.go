package api

import (
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"

	"linkwatch/handlers/middleware"
)

// checkQuery rejects a query string that does not match the parameters of the operation.
func (a *API) checkQuery(ctx huma.Context, next func(huma.Context)) {
	err := middleware.CheckQuery(humagin.Unwrap(ctx).Request, queryOf(ctx.Operation()))
	if p, ok := errors.AsType[*middleware.Problem](err); ok {
		_ = huma.WriteErr(a.huma, ctx, p.Status, p.Detail, p) // fails only if the client is gone
		return
	}
	next(ctx)
}

// CheckQuery returns the handler of a route that huma does not serve. Like all operations, it rejects query
// parameters that are not in the description of the route.
func (a *API) CheckQuery(r middleware.Route) gin.HandlerFunc {
	var allowed []middleware.QueryParam
	if path := a.huma.OpenAPI().Paths[template(r.Path)]; path != nil && r.Method == http.MethodGet && path.Get != nil {
		allowed = queryOf(path.Get)
	}
	return func(c *gin.Context) {
		if err := middleware.CheckQuery(c.Request, allowed); err != nil {
			a.errs.Write(c, err)
			return
		}
		r.Handler(c)
	}
}

// queryOf returns the query parameters of an operation.
func queryOf(op *huma.Operation) (all []middleware.QueryParam) {
	for _, p := range op.Parameters {
		if p.In == "query" {
			all = append(all, middleware.QueryParam{Name: p.Name, Many: p.Explode != nil && *p.Explode})
		}
	}
	return all
}
