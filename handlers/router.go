// Package handlers is the HTTP face of the program: every route on one page,
// with the role it needs, and what each request passes on its way there.
package handlers

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/klauspost/compress/gzhttp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"linkwatch/config"
	"linkwatch/handlers/api"
	"linkwatch/handlers/middleware"
	"linkwatch/handlers/web"
	"linkwatch/models"
	"linkwatch/models/cleanup"
	"linkwatch/models/links"
	"linkwatch/models/schedule"
	"linkwatch/models/shortlinks"
	"linkwatch/models/targets"
	"linkwatch/static"
)

// Deps are what the routes work with.
type Deps struct {
	DB         *models.DB
	Redis      func() bool // whether Redis is in use; nil = there is none
	Links      *links.Store
	Targets    *targets.Store
	ShortLinks *shortlinks.Store
	Cleanup    *cleanup.Store
	Jobs       *schedule.Store
	Log        *slog.Logger
	Registry   *prometheus.Registry // served at /metrics
	Settings   []config.Setting     // in force, secrets masked

	Version          string
	Host             string // HTTP_HOST
	Addresses        middleware.Addresses
	Password         string // guards everything but the public routes; "" = all is open
	ShortCreateLimit int    // short links that a client without a password may make per minute; 0 = any number
}

// Router answers every request. Its Health is to be told when the program stops.
type Router struct {
	http.Handler
	Health *middleware.Health
	engine *gin.Engine
	routes []route
	short  []route // those of SHORT_HOST
}

// route is one route and who may call it. A route without a handler is an
// operation that the API registers itself.
type route struct {
	method, path string
	needs        middleware.Role
	handler      gin.HandlerFunc
}

// New builds the router.
func New(d Deps) (*Router, error) {
	gin.SetMode(gin.ReleaseMode)
	errs := &middleware.Errors{Log: d.Log}
	metrics := middleware.NewMetrics(d.Registry)
	health := middleware.NewHealth(errs, d.DB, d.Redis, d.Version)
	pages := web.New(web.Deps{
		Links: d.Links, Targets: d.Targets, ShortLinks: d.ShortLinks, Cleanup: d.Cleanup, Schedule: d.Jobs,
		Settings: d.Settings, Version: d.Version, Addresses: d.Addresses,
		Errors: errs, Metrics: metrics,
	})
	errs.Page = pages.Problem

	access := middleware.NewAccess(errs, d.Password)
	observe := middleware.Observe(d.Log, metrics, "/healthz", "/readyz", "/health", "/metrics")
	engine := newEngine(errs,
		middleware.Identify,
		observe,
		errs.Recover,
		middleware.Secure,
		errs.Hosts(d.Host, d.Addresses.PublicURL),
		errs.SameOrigin(d.Addresses.PublicURL),
		access.Check,
		errs.Limit(middleware.NewLimiter(d.ShortCreateLimit), d.Password, d.Addresses.PublicURL,
			"POST /v1/shortlinks", "POST /short", "POST /links/:id/shorten"),
		errs.Body,
		middleware.InTime(web.RedirectRoute),
	)

	operations := register(engine, api.Deps{
		Links: d.Links, Targets: d.Targets, ShortLinks: d.ShortLinks, Cleanup: d.Cleanup, Jobs: d.Jobs,
		Addresses: d.Addresses, Errors: errs, Metrics: metrics, Stopping: health.WhenStopping(),
	})
	docs, err := middleware.NewDocs(operations)
	if err != nil {
		return nil, err
	}
	const public, viewer, editor, admin = middleware.Public, middleware.Viewer, middleware.Editor, middleware.Admin
	routes := []route{
		// The program itself.
		{"GET", "/healthz", public, health.Alive},
		{"GET", "/readyz", public, health.Ready},
		{"GET", "/health", viewer, health.Report},
		{"GET", "/metrics", viewer, gin.WrapH(promhttp.HandlerFor(d.Registry, promhttp.HandlerOpts{}))},
		{"GET", "/openapi.json", viewer, docs.OpenAPI},
		{"GET", "/openapi-3.0.json", viewer, docs.OpenAPI30},
		{"GET", "/apidoc", viewer, docs.SwaggerUI},
		{"GET", "/apidoc/*asset", viewer, docs.SwaggerUI},

		// The API: links (handlers/api/links.go).
		{"GET", "/v1/links", viewer, nil},
		{"POST", "/v1/links", editor, nil},
		{"GET", "/v1/link/:id", viewer, nil},
		{"PUT", "/v1/link/:id", editor, nil},
		{"PATCH", "/v1/link/:id", editor, nil},
		{"DELETE", "/v1/link/:id", editor, nil},
		{"PUT", "/v1/link/:id/annotation", editor, nil},
		{"POST", "/v1/link/:id/move", editor, nil},
		{"GET", "/v1/random", viewer, nil},
		{"GET", "/v1/popular", viewer, nil},
		{"GET", "/v1/recent", viewer, nil},
		{"GET", "/v1/search", viewer, nil},

		// The API: tags (handlers/api/tags.go).
		{"GET", "/v1/link/:id/tags", viewer, nil},
		{"POST", "/v1/link/:id/tags", editor, nil},
		{"GET", "/v1/link/:id/tag/:tag_id", viewer, nil},
		{"PUT", "/v1/link/:id/tag/:tag_id", editor, nil},
		{"DELETE", "/v1/link/:id/tag/:tag_id", editor, nil},
		{"GET", "/v1/tags", viewer, nil},
		{"GET", "/v1/popular-tags", viewer, nil},
		{"GET", "/v1/recent-tags", viewer, nil},
		{"GET", "/v1/tag/:tag_id/links", viewer, nil},
		{"GET", "/v1/tag/:tag_id/link/:link_id", viewer, nil},

		// The API: many links at once (handlers/api/bulk.go).
		{"POST", "/v1/links/bulk", editor, nil},
		{"POST", "/v1/changes/:id/undo", editor, nil},
		{"GET", "/v1/refreshes/:id", viewer, nil},

		// The API: targets (handlers/api/targets.go) and what their checks found (history.go).
		{"GET", "/v1/targets", viewer, nil},
		{"POST", "/v1/targets", editor, nil},
		{"GET", "/v1/targets/:id", viewer, nil},
		{"PATCH", "/v1/targets/:id", editor, nil},
		{"DELETE", "/v1/targets/:id", editor, nil},
		{"POST", "/v1/targets/:id/restore", editor, nil},
		{"POST", "/v1/targets/:id/check", editor, nil},
		{"GET", "/v1/targets/:id/results", viewer, nil},
		{"GET", "/v1/targets/:id/outages", viewer, nil},
		{"GET", "/v1/targets/:id/history", viewer, nil},
		{"GET", "/v1/checks", viewer, nil},

		// The API: status pages (handlers/api/statuspages.go).
		{"GET", "/v1/status-pages", viewer, nil},
		{"POST", "/v1/status-pages", editor, nil},
		{"GET", "/v1/status-pages/:id", viewer, nil},
		{"PUT", "/v1/status-pages/:id", editor, nil},
		{"DELETE", "/v1/status-pages/:id", editor, nil},

		// The API: short links (handlers/api/shortlinks.go).
		{"GET", "/v1/shortlinks", viewer, nil},
		{"POST", "/v1/shortlinks", editor, nil},
		{"GET", "/v1/shortlinks/:key", viewer, nil},
		{"PATCH", "/v1/shortlinks/:key", editor, nil},
		{"DELETE", "/v1/shortlinks/:key", editor, nil},
		{"POST", "/v1/shortlinks/:key/restore", editor, nil},
		{"GET", "/v1/shortlinks/:key/stats", viewer, nil},
		{"GET", "/v1/shortlinks/:key/qr.svg", viewer, nil},

		// The API: the reaper (handlers/api/cleanup.go).
		{"GET", "/v1/admin/cleanup/stats", admin, nil},
		{"POST", "/v1/admin/cleanup/run", admin, nil},

		// The API: scheduled jobs (handlers/api/jobs.go).
		{"GET", "/v1/admin/jobs", admin, nil},
		{"POST", "/v1/admin/jobs/:id/run", admin, nil},
		{"GET", "/v1/admin/jobs/:id/runs", admin, nil},

		// The pages (handlers/web).
		{"GET", "/", viewer, pages.OverviewPage},
		{"GET", "/links", viewer, pages.LinksPage},
		{"POST", "/links", editor, pages.SaveLink},
		{"POST", "/links/preview", editor, pages.PreviewLink},
		{"POST", "/links/bulk", editor, pages.BulkLinks},
		{"GET", "/links/tags", viewer, pages.CompleteTags},
		{"GET", "/links/random", viewer, pages.RandomLink},
		{"GET", "/links/refreshes/:id", viewer, pages.RefreshPage},
		{"GET", "/links/:id", viewer, pages.LinkPage},
		{"POST", "/links/:id", editor, pages.AnnotateLink},
		{"POST", "/links/:id/tags", editor, pages.TagLink},
		{"POST", "/links/:id/tags/:tag/remove", editor, pages.UntagLink},
		{"POST", "/links/:id/refresh", editor, pages.RefreshLink},
		{"POST", "/links/:id/expired", editor, pages.ExpireLink},
		{"POST", "/links/:id/move", editor, pages.MoveLink},
		{"POST", "/links/:id/shorten", editor, pages.ShortenLink},
		{"POST", "/links/:id/delete", editor, pages.DeleteLink},
		{"POST", "/changes/:id/undo", editor, pages.Undo},
		{"GET", "/watch", viewer, pages.WatchPage},
		{"POST", "/watch", editor, pages.AddTarget},
		{"GET", "/watch/:id", viewer, pages.TargetPage},
		{"POST", "/watch/:id", editor, pages.EditTarget},
		{"POST", "/watch/:id/paused", editor, pages.PauseTarget},
		{"POST", "/watch/:id/check", editor, pages.CheckTarget},
		{"POST", "/watch/:id/delete", editor, pages.DeleteTarget},
		{"POST", "/watch/:id/restore", editor, pages.RestoreTarget},
		{"GET", "/short", viewer, pages.ShortPage},
		{"POST", "/short", editor, pages.AddShortLink},
		{"GET", "/short/:key", viewer, pages.ShortLinkPage},
		{"POST", "/short/:key", editor, pages.EditShortLink},
		{"GET", "/short/:key/qr.svg", viewer, pages.ShortLinkQR},
		{"POST", "/short/:key/extend", editor, pages.ExtendShortLink},
		{"POST", "/short/:key/disabled", editor, pages.DisableShortLink},
		{"POST", "/short/:key/delete", editor, pages.DeleteShortLink},
		{"POST", "/short/:key/restore", editor, pages.RestoreShortLink},
		{"GET", "/tags", viewer, pages.TagsPage},
		{"POST", "/tags/:id", editor, pages.RenameTag},
		{"GET", "/status", viewer, pages.StatusPagesPage},
		{"POST", "/status", editor, pages.AddStatusPage},
		{"GET", "/status/new", editor, pages.NewStatusPage},
		{"GET", "/status/:slug/edit", editor, pages.EditStatusPage},
		{"POST", "/status/:slug/edit", editor, pages.SaveStatusPage},
		{"GET", "/status/:slug/delete", editor, pages.AskDeleteStatusPage},
		{"POST", "/status/:slug/delete", editor, pages.DeleteStatusPage},
		{"GET", "/admin", admin, pages.AdminPage},
		{"GET", "/admin/checks", admin, pages.ChecksPage},
		{"GET", "/admin/cleanup", admin, pages.CleanupPage},
		{"POST", "/admin/cleanup/run", admin, pages.RunCleanup},
		{"GET", "/admin/jobs", admin, pages.JobsPage},
		{"GET", "/admin/jobs/:id", admin, pages.JobPage},
		{"POST", "/admin/jobs/:id/run", admin, pages.RunJob},
		{"GET", "/admin/settings", admin, pages.SettingsPage},

		// What is public (contract §2).
		{"GET", "/status/:slug", public, pages.StatusPage},
		{"GET", "/status/:slug/feed", public, pages.StatusFeed},
		{"GET", "/badge/:target/:kind", public, pages.Badge},
		{"GET", "/badge/:target/:kind/:range", public, pages.Badge},
		{"GET", web.RedirectRoute, public, pages.Redirect},
		{"GET", web.RedirectRoute + "/", public, pages.Redirect},
		{"GET", web.ProblemRoute, public, pages.ProblemType},
		{"GET", static.Prefix + "*file", public, files(errs)},
		{"GET", "/favicon.ico", public, gin.WrapF(static.Favicon)},
	}
	serve(engine, access, routes)
	engine.NoRoute(notFound(errs, routes))

	// All that there is at SHORT_HOST, and what its pages and problems lead to.
	short := []route{
		{"GET", web.ShortHostRoute, public, pages.Redirect},
		{"GET", web.ShortHostRoute + "/", public, pages.Redirect},
		{"GET", web.ProblemRoute, public, pages.ProblemType},
		{"GET", "/healthz", public, health.Alive},
		{"GET", static.Prefix + "*file", public, files(errs)},
	}
	shortHost := newEngine(errs, middleware.Identify, observe, errs.Recover, middleware.Secure, access.Check, errs.Body)
	serve(shortHost, access, short)

	return &Router{
		Handler: byHost(d.Addresses, engine, shortHost), Health: health, engine: engine, routes: routes, short: short,
	}, nil
}

// Operations returns the description of the API. It needs no store.
func Operations() *api.API {
	gin.SetMode(gin.ReleaseMode)
	return register(gin.New(), api.Deps{})
}

// register adds the API to an engine, and the routes beside it that its
// document describes.
func register(engine *gin.Engine, d api.Deps) *api.API {
	return api.Register(engine, d, slices.Concat(
		middleware.HealthOperations, web.BadgeOperations, []middleware.Operation{web.RedirectOperation, web.FeedOperation})...)
}

// newEngine is an engine without routes that answers problems of our own.
func newEngine(errs *middleware.Errors, passes ...gin.HandlerFunc) *gin.Engine {
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
	engine.RedirectTrailingSlash = false
	engine.ForwardedByClientIP = false
	engine.Use(passes...)
	engine.NoRoute(func(c *gin.Context) { errs.Write(c, models.NotFound("page")) })
	engine.NoMethod(func(c *gin.Context) {
		errs.Write(c, middleware.NewProblem(middleware.CodeMethodNotAllowed, "This address takes other methods only: see the header Allow."))
	})
	return engine
}

// serve adds routes to an engine, and to the table of who may call them.
func serve(engine *gin.Engine, access *middleware.Access, routes []route) {
	for _, r := range routes {
		if r.handler != nil {
			engine.Handle(r.method, r.path, r.handler)
		}
		access.Needs[r.method+" "+r.path] = r.needs
	}
	// Who may GET may ask for the head alone: net/http leaves the body out.
	for _, r := range engine.Routes() {
		if r.Method == http.MethodGet {
			engine.HEAD(r.Path, r.HandlerFunc)
			access.Needs["HEAD "+r.Path] = access.Needs["GET "+r.Path]
		}
	}
}

// byHost sends requests for SHORT_HOST to where there is nothing but short
// links. Redirects have nothing that could be compressed, and no alias.
func byHost(a middleware.Addresses, engine, shortHost http.Handler) http.Handler {
	whole := gzhttp.GzipHandler(aliases(engine))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case a.IsShortHost(r.Host):
			shortHost.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, "/s/"):
			engine.ServeHTTP(w, r)
		default:
			whole.ServeHTTP(w, r)
		}
	})
}

// aliases serves /api/v1 as /v1 (the prefix of seed 003's guide), and the
// statistics of the reaper at the address that seed 004 gives them.
func aliases(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, ok := strings.CutPrefix(r.URL.Path, "/api")
		if ok && path == "/admin/cleanup/stats" {
			path = "/v1" + path
		}
		if ok && middleware.IsAPI(path) {
			u := *r.URL
			u.Path, u.RawPath = path, ""
			r = r.Clone(r.Context())
			r.URL = &u
		}
		next.ServeHTTP(w, r)
	})
}

// files serves what pages load; another name is answered like any unknown page.
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
