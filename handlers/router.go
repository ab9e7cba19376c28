// Package handlers builds the HTTP server from the routes, pages and API operations of
// all systems, and puts the same middleware in front of them. It names no system.
package handlers

import (
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"
	"github.com/klauspost/compress/gzhttp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	"linkwatch/models"
	"linkwatch/static"
	"linkwatch/views/ui"
)

// Deps are the dependencies of New.
type Deps struct {
	Systems  []System
	Frame    *pages.Frame
	Health   *middleware.Health
	Log      *slog.Logger
	Registry *prometheus.Registry // served at /metrics

	TrustedProxies []netip.Prefix // TRUSTED_PROXIES

	Host      string // HTTP_HOST
	PublicURL string // PUBLIC_URL, without a trailing slash; "" = the Host of each request
	Access    middleware.AccessOptions
}

// Router is the handler of all requests.
type Router struct {
	http.Handler
	engine *gin.Engine
	routes []middleware.Route
	hosts  map[string][]middleware.Route
}

// Routes returns all routes of the main host, with the role that each needs.
func (r *Router) Routes() []middleware.Route { return r.routes }

// Serves reports whether the first segment of a path is that of a route, so that the path cannot be the one of
// PUBLIC_URL.
func (r *Router) Serves(path string) bool {
	first := func(path string) string { return strings.Split(path+"/", "/")[1] }
	return first(path) == "api" || slices.ContainsFunc(r.routes, func(route middleware.Route) bool { // "api" is of the aliases
		return first(route.Path) == first(path)
	})
}

// HostRoutes returns the routes of dedicated hosts, by host.
func (r *Router) HostRoutes() map[string][]middleware.Route { return r.hosts }

// New builds the router.
func New(d Deps) *Router {
	gin.SetMode(gin.ReleaseMode)
	errs, table := d.Frame.Errors, middleware.NewTable()
	access := middleware.NewAccess(errs, table, d.Access)
	observe := middleware.Observe(d.Log, middleware.NewMetrics(d.Registry), "/healthz", "/readyz", "/health", "/metrics")
	engine := newEngine(errs,
		middleware.Identify(table),
		observe,
		errs.Recover,
		middleware.Secure(table, d.PublicURL),
		errs.Hosts(d.Host, d.PublicURL),
		errs.SameOrigin(d.PublicURL),
		access.Check,
		errs.Limit(table, access, d.PublicURL),
		errs.Body,
		middleware.Timeout(table),
		access.RecordReads,
	)

	d.Frame.Serve = engine.HandleContext
	operations := register(engine, errs, middleware.SubpathOf(d.PublicURL), d.Health, d.Systems)
	docs := middleware.NewDocs(errs, operations)
	shared := []middleware.Route{ // on dedicated hosts too
		{Method: "GET", Path: "/healthz", Needs: middleware.Public, Handler: d.Health.Alive},
		{Method: "GET", Path: static.Prefix + "*file", Needs: middleware.Public, Handler: files(errs)},
		d.Frame.ProblemTypeRoute(),
	}
	metrics := promhttp.HandlerFor(gatherers(d.Registry, d.Systems), promhttp.HandlerOpts{DisableCompression: true}) // gzhttp compresses faster
	const public, viewer = middleware.Public, middleware.Viewer
	routes := append([]middleware.Route{
		{Method: "GET", Path: "/readyz", Needs: public, Handler: d.Health.Ready},
		{Method: "GET", Path: "/health", Needs: viewer, Machine: true, Handler: d.Health.Report},
		{Method: "GET", Path: "/metrics", Needs: viewer, Machine: true, Handler: gin.WrapH(metrics)},
		{Method: "GET", Path: "/openapi.json", Needs: viewer, Machine: true, Handler: docs.OpenAPI},
		{Method: "GET", Path: "/openapi-3.0.json", Needs: viewer, Machine: true, Handler: docs.OpenAPI30},
		{Method: "GET", Path: "/apidoc", Needs: viewer, Handler: docs.SwaggerUI},
		{Method: "GET", Path: "/apidoc/*asset", Needs: viewer, Handler: docs.SwaggerUI},
		{Method: "GET", Path: "/favicon.ico", Needs: public, Handler: gin.WrapF(static.Favicon)},
		{Method: "GET", Path: "/", Needs: viewer, Handler: d.Frame.OverviewPage(overviews(d.Systems)...)},
		{Method: "GET", Path: "/search", Needs: viewer, Handler: d.Frame.SearchPage(finders(d.Systems)...)},
	}, shared...)
	var flashes []pages.Flash
	for _, s := range d.Systems {
		for _, r := range s.Routes {
			r.System = s.Name
			if middleware.IsAPI(r.Path) || strings.HasPrefix(r.Path, "/sse/") {
				r.Handler = operations.CheckQuery(r)
			}
			routes = append(routes, r)
		}
		flashes = append(flashes, s.Flash)
	}
	d.Frame.Use(navigation(d.Systems), flashes...)
	back := returns(routes)
	table.Add(back...)
	serve(engine, slices.Concat(routes, back))
	routes = append(routes, operations.Routes()...)
	table.Add(routes...)
	engine.NoRoute(notFound(errs, routes))

	hosts, hostRoutes := map[string]http.Handler{}, map[string][]middleware.Route{}
	for _, s := range d.Systems {
		if s.Host.Name == "" {
			continue
		}
		alone := newEngine(errs, middleware.Identify(table), observe, errs.Recover, middleware.Secure(table, d.PublicURL), access.Check, errs.Body)
		own := slices.Concat(s.Host.Routes, shared)
		serve(alone, own)
		table.Add(own...)
		hosts[s.Host.Name], hostRoutes[s.Host.Name] = alone, own
	}
	errs.Page = problemPage(d, table)
	all := byPrefix(table.QuickPrefixes(), engine, gzhttp.GzipHandler(aliases(engine, d.Systems)))
	return &Router{
		Handler: middleware.BehindProxies(d.TrustedProxies, byHost(hosts, middleware.Subpath(d.PublicURL, all))),
		engine:  engine, routes: routes, hosts: hostRoutes,
	}
}

// navigation returns the overview, followed by the navigation of all systems.
func navigation(systems []System) *ui.Nav {
	nav := &ui.Nav{Sections: []ui.Section{{ID: "overview", Label: "Overview", Path: "/", Key: "o"}}}
	for _, s := range systems {
		nav.Sections = append(nav.Sections, s.Nav.Sections...)
		nav.Admin = append(nav.Admin, s.Nav.Admin...)
		nav.Pages = append(nav.Pages, s.Nav.Pages...)
		nav.Commands = append(nav.Commands, s.Nav.Commands...)
		nav.Keys = append(nav.Keys, s.Nav.Keys...)
		if s.Nav.New != nil {
			nav.New = s.Nav.New
		}
	}
	return nav
}

func overviews(systems []System) []pages.Overview {
	var all []pages.Overview
	for _, s := range systems {
		if s.Overview != nil {
			all = append(all, s.Overview)
		}
	}
	return all
}

func finders(systems []System) []pages.Finder {
	var all []pages.Finder
	for _, s := range systems {
		all = append(all, s.Finders...)
	}
	return all
}

// problemPage returns a function that writes a problem as HTML. The first of these that has a
// problem page is used: the route, the host, a quick route with the same path prefix, the frame.
func problemPage(d Deps, table *middleware.Table) func(*gin.Context, *middleware.Problem) {
	return func(c *gin.Context, p *middleware.Problem) {
		show := table.Of(c).Problem
		for _, s := range d.Systems {
			if show == nil && middleware.IsHost(c.Request, s.Host.Name) {
				show = s.Host.Problem
			}
		}
		if show == nil {
			show = table.QuickProblem(c.Request.URL.Path)
		}
		if show == nil {
			show = d.Frame.Problem
		}
		show(c, p)
	}
}

// Operations returns the description of the API, without a database.
func Operations(health *middleware.Health, systems []System) *api.API {
	gin.SetMode(gin.ReleaseMode)
	return register(gin.New(), &middleware.Errors{}, "", health, systems)
}

// register adds the operations of the systems to the engine and to the OpenAPI document. The
// document also gets the described routes outside of /v1. path is that of PUBLIC_URL.
func register(engine *gin.Engine, errs *middleware.Errors, path string, health *middleware.Health, systems []System) *api.API {
	var groups []*huma.Tag
	for _, s := range systems {
		groups = append(groups, s.Groups...)
		health.Add(s.Health...)
	}
	groups = append(groups, &huma.Tag{Name: middleware.GroupHealth, Description: "Health and metrics of the server."})
	a := api.New(engine, errs, path, groups...)
	for _, s := range systems {
		if s.Operations != nil {
			a.Of(s.Name)
			s.Operations(a)
		}
	}
	a.DescribeItems()
	for _, o := range health.Operations() {
		a.Describe(o)
	}
	for _, s := range systems {
		for _, o := range s.Described {
			a.Describe(o)
		}
	}
	return a
}

// newEngine returns an engine without routes that answers 404 and 405 with our problems.
func newEngine(errs *middleware.Errors, chain ...gin.HandlerFunc) *gin.Engine {
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
	engine.RedirectTrailingSlash = false
	engine.ForwardedByClientIP = false
	engine.Use(chain...)
	engine.NoRoute(func(c *gin.Context) { errs.Write(c, models.NotFound("page")) })
	engine.NoMethod(func(c *gin.Context) {
		errs.Write(c, middleware.NewProblem(middleware.CodeMethodNotAllowed, "This path does not support the method. The Allow header lists the methods that it supports."))
	})
	return engine
}

func serve(engine *gin.Engine, routes []middleware.Route) {
	for _, r := range routes {
		handler := r.Handler
		if r.Stream {
			handler = plain(handler)
		}
		if handler != nil {
			engine.Handle(r.Method, r.Path, handler)
		}
	}
	// HEAD is served like GET: net/http drops the body.
	for _, r := range engine.Routes() {
		if r.Method == http.MethodGet {
			engine.HEAD(r.Path, r.HandlerFunc)
		}
	}
}

// plain disables compression for a handler, because gzhttp buffers what it compresses.
func plain(handler gin.HandlerFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Header(gzhttp.HeaderNoCompression, "stream")
		handler(c)
	}
}

// byHost dispatches requests for dedicated hosts to their handlers. All other requests go to next.
func byHost(hosts map[string]http.Handler, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, alone := range hosts {
			if middleware.IsHost(r, name) {
				alone.ServeHTTP(w, r)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// byPrefix sends requests of quick routes straight to engine, because they have no aliases and responses too short to
// compress. All other requests go to next.
func byPrefix(quick []string, engine, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, prefix := range quick {
			if strings.HasPrefix(r.URL.Path, prefix) {
				engine.ServeHTTP(w, r)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// aliases rewrites /api/v1 to /v1, and the aliases of the systems.
func aliases(next http.Handler, systems []System) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, ok := strings.CutPrefix(r.URL.Path, "/api")
		ok = ok && middleware.IsAPI(path)
		for _, s := range systems {
			if !ok && s.Alias != nil {
				path, ok = s.Alias(r.URL.Path)
			}
		}
		if ok {
			u := *r.URL
			u.Path, u.RawPath = path, ""
			r = r.Clone(r.Context())
			r.URL = &u
		}
		next.ServeHTTP(w, r)
	})
}

// files serves the static files; other names get our 404.
func files(errs *middleware.Errors) gin.HandlerFunc {
	serve := gin.WrapH(static.Handler())
	return func(c *gin.Context) {
		if !static.Has(c.Request.URL.Path) {
			errs.Write(c, models.NotFound("file"))
			return
		}
		serve(c)
	}
}
