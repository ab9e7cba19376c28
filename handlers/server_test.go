package handlers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/handlers"
	"linkwatch/handlers/api/apitest"
	"linkwatch/models"
	"linkwatch/models/cleanup"
	"linkwatch/models/links"
	"linkwatch/models/modelstest"
	"linkwatch/models/schedule"
	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
	"linkwatch/models/shortlinks/visits"
	"linkwatch/models/targets"
)

// web is a Fetcher that knows every page: those that were not changed answer
// 200 with a title.
type web struct {
	mu    sync.Mutex
	pages map[string]any // links.Page, error, or what to do until the caller gives up
}

func (w *web) set(url string, answer any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pages[url] = answer
}

func (w *web) Fetch(ctx context.Context, url string) (links.Page, error) {
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

func (w *web) Probe(ctx context.Context, url string) (links.Page, error) { return w.Fetch(ctx, url) }

// server is the whole router over a real store.
type server struct {
	t       *testing.T
	url     string
	web     *web
	db      *models.DB
	links   *links.Store
	targets *targets.Store
	short   *shortlinks.Store
	visits  *visits.Counter
	cleanup *cleanup.Store
	clock   *modelstest.Clock // of targets and short links
	jobs    *schedule.Store
	stop    func() // what the program tells the router when it is about to stop
	sharing bool   // the cache of short links with other instances
}

func newServer(t *testing.T) *server {
	t.Helper()
	return newServerOn(t, modelstest.New(t))
}

// eachEngine runs a test of the whole router on each engine.
func eachEngine(t *testing.T, test func(s *server)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(newServerOn(t, db)) })
}

// newServerOn is a server over a store, with what change makes of its settings.
func newServerOn(t *testing.T, db *models.DB, change ...func(*handlers.Deps)) *server {
	t.Helper()
	s := &server{t: t, web: &web{pages: map[string]any{}}, db: db, clock: modelstest.NewClock()}
	s.links = links.NewStore(s.db, nil, s.web, links.Options{CheckInterval: time.Hour})
	s.targets = targets.NewStore(s.db, s.clock.Now, targets.Options{CheckInterval: 15 * time.Second, Retention: 30 * 24 * time.Hour})
	memory := cache.NewMemory(1000, s.clock.Now)
	t.Cleanup(memory.Close)
	s.visits = visits.New()
	s.short = shortlinks.NewStore(s.db, s.clock.Now, memory, s.visits, shortlinks.Options{TombstoneTTL: time.Hour, BufferTime: time.Hour})
	s.cleanup = cleanup.NewStore(s.db, s.clock.Now)
	s.jobs = schedule.NewStore(s.db, nil)
	deps := handlers.Deps{
		DB: s.db, Links: s.links, Targets: s.targets, ShortLinks: s.short, Cleanup: s.cleanup, Jobs: s.jobs, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Registry: prometheus.NewRegistry(), Version: "test", Host: "127.0.0.1",
	}
	for _, c := range change {
		c(&deps)
	}
	r, err := handlers.New(deps)
	if err != nil {
		t.Fatal(err)
	}
	s.stop = r.Health.Stopping
	ts := httptest.NewServer(apitest.Check(t, "api/openapi.json", r, func(r *http.Request) bool { return deps.Addresses.IsShortHost(r.Host) }))
	t.Cleanup(ts.Close)
	s.url = ts.URL
	return s
}

// answer is a response that was read to its end.
type answer struct {
	t      *testing.T
	call   string
	status int
	header http.Header
	body   string
}

// do sends body ("" = none) as JSON.
func (s *server) do(method, path, body string) answer {
	s.t.Helper()
	return s.send(method, path, "application/json", body)
}

// send sends body ("" = none) with headers, given as name and value in turn.
func (s *server) send(method, path, contentType, body string, headers ...string) answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if res.Header.Get("X-Request-Id") == "" {
		s.t.Errorf("%s %s: no X-Request-Id", method, path)
	}
	if strings.Contains(string(b), "$schema") {
		s.t.Errorf("%s %s: the answer holds $schema", method, path)
	}
	return answer{s.t, method + " " + path, res.StatusCode, res.Header, string(b)}
}

// want fails unless the answer has the status, and reads its JSON.
func (a answer) want(status int) map[string]any {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: status %d, want %d: %s", a.call, a.status, status, a.body)
	}
	v := map[string]any{}
	if a.body == "" {
		return v
	}
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		a.t.Fatalf("%s: %v: %s", a.call, err, a.body)
	}
	return v
}

// problem fails unless the answer is a whole problem of that status and slug,
// with an entry for location in its errors unless location is "".
func (a answer) problem(status int, slug, location string) map[string]any {
	a.t.Helper()
	p := a.want(status)
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		a.t.Errorf("%s: Content-Type %q", a.call, got)
	}
	if got, want := p["type"], "/probs/"+slug; got != want {
		a.t.Errorf("%s: type %q, want %q", a.call, got, want)
	}
	if p["status"] != float64(status) || p["title"] == "" || p["detail"] == "" {
		a.t.Errorf("%s: not a whole problem: %s", a.call, a.body)
	}
	if location == "" {
		return p
	}
	errs, _ := p["errors"].([]any)
	for _, e := range errs {
		if e, _ := e.(map[string]any); e["location"] == location && e["message"] != "" {
			return p
		}
	}
	a.t.Errorf("%s: no error at %q: %s", a.call, location, a.body)
	return p
}

// save saves a link and answers its id.
func (s *server) save(url string, tags ...string) string {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{"url": url, "tags": append([]string{}, tags...)})
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprint(s.do("POST", "/v1/links", string(body)).want(http.StatusCreated)["id"])
}

// tag is the id of a tag by its name.
func (s *server) tag(name string) string {
	s.t.Helper()
	for _, r := range results(s.do("GET", "/v1/tags", "").want(200)) {
		if r["name"] == name {
			return fmt.Sprint(r["id"])
		}
	}
	s.t.Fatalf("no tag %q", name)
	return ""
}

// refreshOne does what the worker does with the next link of a queued refresh.
func refreshOne(t *testing.T, store *links.Store) {
	t.Helper()
	items, err := store.ClaimRefreshes(t.Context(), 1)
	if err != nil || len(items) != 1 {
		t.Fatalf("claimed %d refreshes: %v", len(items), err)
	}
	if err := store.FinishRefresh(t.Context(), items[0]); err != nil {
		t.Fatal(err)
	}
}

// results are those of a list of the links family, items those of any other.
func results(list map[string]any) []map[string]any { return objects(list["results"]) }
func items(list map[string]any) []map[string]any   { return objects(list["items"]) }

func objects(array any) []map[string]any {
	var out []map[string]any
	all, _ := array.([]any)
	for _, r := range all {
		m, _ := r.(map[string]any)
		out = append(out, m)
	}
	return out
}

// column is one member of each result or item.
func column(list map[string]any, member string) string {
	var out []string
	for _, r := range append(results(list), items(list)...) {
		out = append(out, fmt.Sprint(r[member]))
	}
	return strings.Join(out, " ")
}
