package sites_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/app/apptest"
	"linkwatch/handlers"
	"linkwatch/handlers/api/apitest"
	"linkwatch/handlers/middleware"
	"linkwatch/handlers/pages"
	handler "linkwatch/handlers/sites"
	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
	views "linkwatch/views/sites"
)

// secret is in all credentials of the tests. No response may contain it.
const secret = "canary-of-a-private-key"

// engines are fake search engines with results set by the test.
type engines struct {
	checks  []views.Check
	problem string
	err     error
	keys    int
}

func (e *engines) Account(key []byte) (sites.Account, error) {
	var file struct {
		Type      string `json:"type"`
		Email     string `json:"client_email"`
		ProjectID string `json:"project_id"`
	}
	if err := json.Unmarshal(key, &file); err != nil || file.Type != "service_account" {
		return sites.Account{}, models.Invalid("credentials", "is not the key of a service account.")
	}
	return sites.Account{ClientEmail: file.Email, ProjectID: file.ProjectID}, nil
}

func (e *engines) Test(context.Context, sites.Website) ([]views.Check, error) { return e.checks, e.err }

func (e *engines) CheckKey(context.Context, sites.Website) (string, error) { return e.problem, e.err }

func (e *engines) NewKey() string {
	e.keys++
	return fmt.Sprintf("made-key-%d", e.keys)
}

// fixture is a server with only the operations of websites.
type fixture struct {
	*apptest.App
	Sites   *sites.Store
	Engines *engines
	Systems *apiSystems
	me      lease.ID
}

func each(t *testing.T, test func(w *fixture)) {
	t.Helper()
	t.Parallel()
	test(newFixture(t, modelstest.New(t)))
}

func newFixture(t *testing.T, db *models.DB) *fixture {
	t.Helper()
	log, clock := slog.New(slog.NewTextHandler(t.Output(), nil)), modelstest.NewClock()
	store := sites.NewStore(db, clock.Now, sites.Options{
		Limits: sites.Limits{PublishPerDay: 200, MetadataPerMinute: 180, RequestsPerMinute: 380, InspectionsPerDay: 2000, InspectionsPerMinute: 600, Concurrency: 4},
		Seal:   func(plain []byte, of string) ([]byte, error) { return append([]byte(of), plain...), nil },
		Open: func(sealed []byte, of string) ([]byte, error) {
			plain, ok := bytes.CutPrefix(sealed, []byte(of))
			if !ok {
				return nil, errors.New("sealed for another")
			}
			return plain, nil
		},
	})
	errs := &middleware.Errors{Log: log}
	frame := pages.New(errs, "v1", "", clock.Now)
	w := &fixture{Sites: store, Engines: &engines{}, Systems: &apiSystems{}, me: modelstest.Lease(t, db, "i_me")}
	operations := handler.API{Deps: &handler.Deps{Frame: frame, Sites: store, Services: w.Engines, OtherSystems: w.Systems}}
	router := handlers.New(handlers.Deps{
		Systems: []handlers.System{{Groups: handler.Groups(), Operations: operations.Register}},
		Frame:   frame, Health: middleware.NewHealth(errs, db, "v1"), Log: log, Registry: prometheus.NewRegistry(), Host: "127.0.0.1",
	})
	server := httptest.NewServer(apitest.Record(t, router, func(*http.Request) bool { return false }))
	t.Cleanup(server.Close)
	w.App = &apptest.App{TB: t, URL: server.URL, DB: db, Clock: clock, Queries: modelstest.Queries(t, db)}
	return w
}

// add adds a website through the API, and returns its path and ID.
func (w *fixture) add(siteURL string) (at, id string) {
	w.Helper()
	id = w.Do("POST", "/v1/websites", `{"site_url":"`+siteURL+`"}`).Want(201)["id"].(string)
	return "/v1/websites/" + id, id
}

func (w *fixture) account(at string) {
	w.Helper()
	w.Do("PUT", at+"/credentials", account).Want(200)
}

const account = `{"type":"service_account","client_email":"robot@p.example","project_id":"p","private_key":"` + secret + `","new":{"of":["Google"]}}`

// read adds a sitemap and stores its entries: paths, each with the age of lastmod in days (-1 = none).
func (w *fixture) read(id string, entries ...any) {
	w.Helper()
	ctx := w.Context()
	site, err := w.Sites.Get(ctx, id)
	w.Must(err)
	m, _, err := w.Sites.AddSitemap(ctx, id, site.Property().Root()+"sitemap.xml")
	w.Must(err)
	var all []sites.Entry
	for i := 0; i < len(entries); i += 2 {
		u, err := models.ParseURL("url", site.Property().Root()+entries[i].(string))
		w.Must(err)
		e := sites.Entry{URL: u}
		if days := entries[i+1].(int); days >= 0 {
			e.Lastmod = w.Sites.Now().Add(-time.Duration(days) * models.Day)
		}
		all = append(all, e)
	}
	w.Must(w.Sites.BeginReading(ctx, m))
	_, err = w.Sites.StoreEntries(ctx, site, m, all)
	w.Must(err)
	w.Must(w.Sites.RecordRead(ctx, m, sites.ReadResult{
		Stored: true, Kind: sites.KindSitemap, Pages: len(all), ContentHash: fmt.Append(nil, all), Complete: true, Skipped: 1, Reasons: []string{"line 7: URL must start with http:// or https://"},
	}))
	_, err = w.Sites.DetachPages(ctx, site, m, false)
	w.Must(err)
	w.Must(w.Sites.FinishReading(ctx, site, ""))
}

func (w *fixture) page(id string) sites.Page {
	w.Helper()
	p, err := w.Sites.Page(w.Context(), id)
	w.Must(err)
	return p
}

// item returns the list item with a value of a member.
func (w *fixture) item(list map[string]any, member string, value any) map[string]any {
	w.Helper()
	for _, i := range apptest.Items(list) {
		if i[member] == value {
			return i
		}
	}
	w.Fatalf("no item has %s %v: %v", member, value, list)
	return nil
}

func (w *fixture) site(id string) sites.Website {
	w.Helper()
	s, err := w.Sites.Get(w.Context(), id)
	w.Must(err)
	return s
}

func (w *fixture) exec(sql string, args ...any) {
	w.Helper()
	modelstest.Exec(w.TB, w.DB, sql, args...)
}
