// Package apptest runs the whole program, without its background work, for the
// tests of handlers: over a real database, a web that the test makes up and a
// clock of the test's own.
package apptest

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"linkwatch/app"
	"linkwatch/config"
	"linkwatch/handlers/api/apitest"
	"linkwatch/handlers/middleware"
	"linkwatch/models"
	"linkwatch/models/cleanup"
	"linkwatch/models/lease"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
	"linkwatch/models/schedule"
	"linkwatch/models/shortlinks"
	"linkwatch/models/targets"
)

// Setup is what a test may change of a program before it is made.
type Setup struct {
	app.Options
	Env map[string]string // settings, by name
}

// Set makes a setting.
func Set(name, value string) func(*Setup) {
	return func(s *Setup) { s.Env[name] = value }
}

// On runs the program over a database.
func On(db *models.DB) func(*Setup) {
	return func(s *Setup) { s.DB = db }
}

// App is the program with its parts.
type App struct {
	testing.TB
	*app.App
	Handler    http.Handler // the router, which checks each answer of the API against the OpenAPI document
	DB         *models.DB
	Web        *Web
	Clock      *modelstest.Clock
	Links      *links.Store
	Targets    *targets.Store
	ShortLinks *shortlinks.Store
	Cleanup    *cleanup.Store
	Jobs       *schedule.Store
}

// Must fails the test if err is not nil.
func (a *App) Must(err error) {
	a.Helper()
	if err != nil {
		a.Fatal(err)
	}
}

// Holder is the lease of an instance that claims for a test.
func (a *App) Holder() lease.ID {
	a.Helper()
	return modelstest.Lease(a.TB, a.DB, "k_test")
}

// New makes a program. It is closed at the end of the test.
func New(t testing.TB, change ...func(*Setup)) *App {
	t.Helper()
	a := &App{TB: t, Web: &Web{pages: map[string]any{}}, Clock: modelstest.NewClock()}
	s := Setup{
		Options: app.Options{Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Clock: a.Clock.Now, Fetcher: a.Web, Version: "v1.2.3"},
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
	a.DB = s.DB
	if a.App, err = app.New(s.Options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	of := a.Systems
	a.Links, a.Targets, a.ShortLinks, a.Cleanup, a.Jobs = of.Links.Store, of.Targets.Store, of.ShortLinks.Store, of.Admin.Cleanup, of.Admin.Jobs
	a.Handler = apitest.Check(t, document(), a.Router, func(r *http.Request) bool {
		return middleware.IsHost(r, s.Config.ShortHost)
	})
	return a
}

// document is the file of the OpenAPI document.
func document() string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "../../handlers/api/openapi.json")
}

// Web is a links.Fetcher that knows every page: those that were not changed
// answer 200 with a title.
type Web struct {
	mu    sync.Mutex
	pages map[string]any // links.Page, error, or what to do until the caller gives up
}

// Set makes a URL answer with a links.Page or an error, or do something until the
// caller gives up (a func(context.Context)).
func (w *Web) Set(url string, answer any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pages[url] = answer
}

// Fetch implements links.Fetcher.
func (w *Web) Fetch(ctx context.Context, url string) (links.Page, error) {
	w.mu.Lock()
	answer := w.pages[url]
	w.mu.Unlock()
	switch a := answer.(type) {
	case func(context.Context):
		a(ctx)
		return links.Page{}, ctx.Err()
	case links.Page:
		return a, nil
	case error:
		return links.Page{}, a
	}
	return links.Page{Status: 200, URL: url, Title: "Page of " + url, OpenGraph: links.OpenGraph{
		Title: "OG", Description: "D", Image: "https://pics.test/a.png", SiteName: "S", Type: "website",
	}}, nil
}

// Probe implements links.Fetcher.
func (w *Web) Probe(ctx context.Context, url string) (links.Page, error) { return w.Fetch(ctx, url) }
