package handlers_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/config"
	"linkwatch/handlers"
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

// site is the router as a browser meets it, over a fresh store and a clock of the test's own.
type site struct {
	t       testing.TB
	router  http.Handler
	db      *models.DB
	web     *web
	links   *links.Store
	targets *targets.Store
	short   *shortlinks.Store
	visits  *visits.Counter
	cleanup *cleanup.Store
	jobs    *schedule.Store
	clock   *modelstest.Clock
	queries *atomic.Int64
}

// newSite makes a site. change may set what its router guards.
func newSite(t testing.TB, change ...func(*handlers.Deps)) *site {
	t.Helper()
	db := modelstest.New(t)
	clock := modelstest.NewClock()
	s := &site{t: t, db: db, clock: clock, web: &web{pages: map[string]any{}}}
	s.links = links.NewStore(db, clock.Now, s.web, links.Options{CheckInterval: 7 * 24 * time.Hour})
	s.targets = targets.NewStore(db, clock.Now, targets.Options{CheckInterval: 15 * time.Second, Retention: 30 * 24 * time.Hour})
	memory := cache.NewMemory(1000, clock.Now)
	t.Cleanup(memory.Close)
	s.visits = visits.New()
	s.short = shortlinks.NewStore(db, clock.Now, memory, s.visits, shortlinks.Options{TombstoneTTL: time.Hour, BufferTime: time.Hour})
	s.cleanup = cleanup.NewStore(db, clock.Now)
	s.jobs = schedule.NewStore(db, clock.Now)
	d := handlers.Deps{
		DB: db, Links: s.links, Targets: s.targets, ShortLinks: s.short, Cleanup: s.cleanup, Jobs: s.jobs,
		Log: slog.New(slog.DiscardHandler), Registry: prometheus.NewRegistry(),
		Settings: []config.Setting{{Name: "LINK_CHECK_INTERVAL", Value: "168h", Default: "168h", Meaning: "how often"}},
		Version:  "v1.2.3", Host: "127.0.0.1",
	}
	for _, set := range change {
		set(&d)
	}
	r, err := handlers.New(d)
	if err != nil {
		t.Fatal(err)
	}
	s.router, s.queries = r, modelstest.Queries(t, db)
	return s
}

func (s *site) save(u string, tags ...string) links.Link {
	s.t.Helper()
	l, _, err := s.links.Add(s.t.Context(), links.New{URL: u, Tags: tags})
	if err != nil {
		s.t.Fatal(err)
	}
	s.clock.Advance(time.Minute)
	return l
}

// page is a response and what a browser makes of it.
type page struct {
	*http.Response
	*goquery.Document
	body string
}

func (s *site) do(r *http.Request) page {
	s.t.Helper()
	r.Host = "127.0.0.1:8080"
	if r.Header.Get("Accept") == "" {
		r.Header.Set("Accept", "text/html")
	}
	w := httptest.NewRecorder()
	s.router.ServeHTTP(w, r)
	res := w.Result()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(string(b)))
	if err != nil {
		s.t.Fatal(err)
	}
	res.Request = r
	return page{res, doc, string(b)}
}

func (s *site) get(path string) page {
	s.t.Helper()
	return s.do(httptest.NewRequestWithContext(s.t.Context(), http.MethodGet, path, nil))
}

// count is how many queries a page takes.
func (s *site) count(path string) int64 {
	s.t.Helper()
	before := s.queries.Load()
	if a := s.get(path); a.StatusCode != http.StatusOK {
		s.t.Errorf("%s: status %d", path, a.StatusCode)
	}
	return s.queries.Load() - before
}

// part asks as htmx does.
func (s *site) part(path string) page {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodGet, path, nil)
	r.Header.Set("HX-Request", "true")
	return s.do(r)
}

func (s *site) post(path string, form url.Values) page {
	s.t.Helper()
	path, _, _ = strings.Cut(path, "#") // browsers keep it to themselves
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.do(r)
}

// follow posts a form and opens the page that it leads to.
func (s *site) follow(path string, form url.Values) page {
	s.t.Helper()
	a := s.post(path, form)
	if a.StatusCode != http.StatusSeeOther {
		s.t.Fatalf("POST %s: status %d, want 303; page: %s", path, a.StatusCode, text(a, "main"))
	}
	return s.get(a.Header.Get("Location"))
}

// submit posts a form of the page as a browser without JavaScript would.
func (s *site) submit(a page, form string) page {
	s.t.Helper()
	f := a.Find(form)
	if f.Length() != 1 {
		s.t.Fatalf("%d forms match %s", f.Length(), form)
	}
	values := url.Values{}
	f.Find("input[name]").Each(func(_ int, in *goquery.Selection) {
		values.Add(in.AttrOr("name", ""), in.AttrOr("value", ""))
	})
	return s.follow(f.AttrOr("action", ""), values)
}

// text is the text of what sel matches, with single blanks between elements.
func text(a page, sel string) string {
	var words []string
	a.Find(sel).Find("*").AddBack().Contents().Each(func(_ int, n *goquery.Selection) {
		if goquery.NodeName(n) == "#text" {
			words = append(words, strings.Fields(n.Text())...)
		}
	})
	return strings.Join(words, " ")
}

func wantText(t *testing.T, a page, sel, want string) {
	t.Helper()
	if got := text(a, sel); !strings.Contains(got, want) {
		t.Errorf("%s says %q, want it to hold %q", sel, got, want)
	}
}

func wantStatus(t *testing.T, a page, want int) {
	t.Helper()
	if a.StatusCode != want {
		t.Errorf("status %d, want %d; page: %s", a.StatusCode, want, text(a, "main"))
	}
}

func wantCount(t *testing.T, a page, sel string, want int) {
	t.Helper()
	if got := a.Find(sel).Length(); got != want {
		t.Errorf("%d elements match %s, want %d", got, sel, want)
	}
}
