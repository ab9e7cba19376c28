// Package apptest runs the whole program without background work, for tests of handlers.
// It uses a real database, fake websites and a clock that the test moves. Tests send
// requests as API clients (api.go) and as browsers (pages.go).
package apptest

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"linkwatch/app"
	"linkwatch/config"
	"linkwatch/handlers/api/apitest"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/cleanup"
	"linkwatch/models/disk"
	"linkwatch/models/lease"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
	"linkwatch/models/schedule"
	"linkwatch/models/shortlinks"
	"linkwatch/models/targets"
)

// Setup is the configuration that a test may change before the program is created.
type Setup struct {
	app.Options
	Env map[string]string // settings, by name
}

// Set sets a setting.
func Set(name, value string) func(*Setup) {
	return func(s *Setup) { s.Env[name] = value }
}

// On uses an existing database.
func On(db *models.DB) func(*Setup) {
	return func(s *Setup) { s.DB = db }
}

// App is the program with its stores.
type App struct {
	testing.TB
	*app.App
	Handler    http.Handler  // the router; it checks each API response against the OpenAPI document
	URL        string        // address of Handler
	Queries    *atomic.Int64 // number of database queries so far
	DB         *models.DB
	Web        *Web
	Clock      *modelstest.Clock
	Links      *links.Store
	Targets    *targets.Store
	ShortLinks *shortlinks.Store
	Cleanup    *cleanup.Store
	Jobs       *schedule.Store
	as         string // see As
	session    string // see SignIn
}

// Must fails the test if err is not nil.
func (a *App) Must(err error) {
	a.Helper()
	if err != nil {
		a.Fatal(err)
	}
}

// Holder returns the lease of an instance that claims items for a test.
func (a *App) Holder() lease.ID {
	a.Helper()
	return modelstest.Lease(a.TB, a.DB, "k_test")
}

// New returns a program, which is closed at the end of the test.
func New(t testing.TB, change ...func(*Setup)) *App {
	t.Helper()
	a := &App{TB: t, Web: &Web{pages: map[string]any{}}, Clock: modelstest.NewClock()}
	s := Setup{
		Options: app.Options{Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Clock: a.Clock.Now, Fetcher: a.Web, Version: "v1.2.3", Disks: freeDisk},
		Env:     map[string]string{},
	}
	for _, c := range change {
		c(&s)
	}
	var err error
	if s.Config, err = config.Load(func(name string) string { return s.Env[name] }); err != nil {
		t.Fatal(err)
	}
	if s.DB == nil {
		s.DB = modelstest.New(t)
	}
	a.DB, a.Queries = s.DB, modelstest.Queries(t, s.DB)
	if a.App, err = app.New(s.Options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	a.Must(a.Systems.Accounts.Store.RefreshInUse(t.Context()))
	systems := a.Systems
	a.Links, a.Targets, a.ShortLinks, a.Cleanup, a.Jobs = systems.Links.Store, systems.Targets.Store, systems.ShortLinks.Store, systems.Admin.Cleanup, systems.Admin.Jobs
	a.Handler = apitest.Record(t, a.Router, func(r *http.Request) bool {
		return middleware.IsHost(r, s.Config.ShortHost) || middleware.SubpathOf(s.Config.PublicURL) != "" // the document has no path
	})
	a.Handler = actAs(a.Handler)
	server := httptest.NewServer(a.Handler)
	t.Cleanup(server.Close)
	a.URL = server.URL
	return a
}

func freeDisk() []disk.Space { return []disk.Space{{Of: disk.Database, Free: 60e9, Size: 100e9}} }

// EachEngine runs a test on each database engine, as modelstest.Each does. It is for tests of all systems together, for
// races between requests, and for statements that differ. Other tests of handlers use SQLite: those of the stores use both
// engines.
func EachEngine(t *testing.T, test func(a *App)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(New(t, On(db))) })
}

// actorHeader is the header with the account name of As.
const actorHeader = "Test-Actor"

// As returns an App whose requests come from an account that is not an admin: it sees shared
// items and its own. Sign-in must be off.
func (a *App) As(name string) *App {
	as := *a
	as.as = name
	return &as
}

// Context returns a context with the actor of As, if any.
func (a *App) Context() context.Context {
	if a.as == "" {
		return a.TB.Context()
	}
	return models.WithActor(a.TB.Context(), actor(a.as))
}

func actor(name string) models.Actor { return models.Actor{Name: name, Via: "session"} }

// actAs sets the actor of requests to the account in actorHeader.
func actAs(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name := r.Header.Get(actorHeader); name != "" {
			r = r.WithContext(models.WithActor(r.Context(), actor(name)))
			r.Header.Del(actorHeader)
		}
		next.ServeHTTP(w, r)
	})
}
