package sites_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"linkwatch/jobs"
	sitejobs "linkwatch/jobs/sites"
	"linkwatch/jobs/sites/google"
	"linkwatch/jobs/sites/indexnow"
	"linkwatch/jobs/sites/standin"
	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
	"linkwatch/models/sites"
	"linkwatch/outbound"
)

// limits are higher than any test needs.
var limits = sites.Limits{PublishPerDay: 200, MetadataPerMinute: 180, RequestsPerMinute: 380, InspectionsPerDay: 2000, InspectionsPerMinute: 600, Concurrency: 4}

// fixture is a store with a test clock and fake search engines.
type fixture struct {
	*testing.T
	*sites.Store
	db     *models.DB
	clock  *modelstest.Clock
	engine *standin.Server
	log    *slog.Logger
	logged *modelstest.Log
}

// each runs a test on each database engine. It fails if goroutines leak.
func each(t *testing.T, test func(w *fixture), change ...func(*sites.Limits)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		modelstest.NoLeaks(t)
		test(newFixture(t, db, change...))
	})
}

func newFixture(t *testing.T, db *models.DB, change ...func(*sites.Limits)) *fixture {
	t.Helper()
	l := limits
	for _, f := range change {
		f(&l)
	}
	logged := modelstest.NewLog(t)
	w := &fixture{T: t, db: db, clock: modelstest.NewClock(), engine: standin.New(t), logged: logged, log: slog.New(slog.NewTextHandler(logged, nil))}
	w.Store = w.store(db, l, "key")
	return w
}

// store returns a store that seals credentials with key.
func (w *fixture) store(db *models.DB, l sites.Limits, key string) *sites.Store {
	prefix := func(of string) []byte { return []byte(key + of) }
	return sites.NewStore(db, w.clock.Now, sites.Options{
		Limits: l,
		Seal:   func(plain []byte, of string) ([]byte, error) { return append(prefix(of), plain...), nil },
		Open: func(sealed []byte, of string) ([]byte, error) {
			plain, ok := bytes.CutPrefix(sealed, prefix(of))
			if !ok {
				return nil, errors.New("sealed with another key")
			}
			return plain, nil
		},
	})
}

// Context returns the context of the test.
func (w *fixture) Context() context.Context { return w.T.Context() }

func (w *fixture) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// instance is a worker with its own lease.
type instance struct {
	*sitejobs.Worker
	w         *fixture
	lease     *lease.Lease
	heartbeat jobs.Service
}

// instance creates a worker that is not started. change changes its options.
func (w *fixture) instance(change ...func(*sitejobs.Options)) *instance {
	w.Helper()
	return w.instanceOf(w.db, w.Store, change...)
}

func (w *fixture) instanceOf(db *models.DB, store *sites.Store, change ...func(*sitejobs.Options)) *instance {
	w.Helper()
	instanceLease := lease.New(db, time.Now)
	w.must(instanceLease.Beat(w.Context()))
	client := outbound.New(outbound.Options{AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Timeout: 5 * time.Second})
	endpoints, err := google.NewEndpoints(google.Options{Indexing: w.engine.URL, SearchConsole: w.engine.URL, Token: w.engine.URL + standin.Token})
	w.must(err)
	batches, err := indexnow.NewClient(indexnow.Options{Endpoint: w.engine.URL + standin.IndexNow})
	w.must(err)
	o := sitejobs.Options{
		Store: store, Lease: instanceLease, Client: client, Google: endpoints, IndexNow: batches, Log: w.log, Concurrency: 4,
		SitemapInterval: time.Hour, SubmissionInterval: 5 * time.Minute, VerificationInterval: time.Hour,
	}
	for _, f := range change {
		f(&o)
	}
	i := &instance{sitejobs.New(o), w, instanceLease, jobs.NewHeartbeat(instanceLease, w.log)}
	i.heartbeat.Start()
	w.Cleanup(func() {
		i.end()
		endpoints.Close()
		batches.Close()
		client.Close()
	})
	return i
}

// end stops the instance like SIGTERM, and ends its lease.
func (i *instance) end() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	i.Stop(ctx)
	i.heartbeat.Stop(ctx)
}

// run runs a scheduled job, which must succeed, and returns its summary.
func (i *instance) run(a sites.Activity) string {
	i.w.Helper()
	summary, err := i.try(i.w.Context(), i.w.Context(), a)
	i.w.must(err)
	return summary
}

func (i *instance) try(taking, working context.Context, a sites.Activity) (string, error) {
	for _, j := range i.Jobs() {
		if j.ID == string(a) {
			return j.Run(taking, working)
		}
	}
	return "", fmt.Errorf("no job %s", a)
}

// site adds a website. Its only open request is to read its sitemaps.
func (w *fixture) site(url string, change ...func(*sites.NewWebsite)) sites.Website {
	w.Helper()
	n := sites.NewWebsite{SiteURL: url}
	for _, f := range change {
		f(&n)
	}
	s, err := w.Add(w.Context(), n)
	w.must(err)
	return s
}

func indexing(n *sites.NewWebsite) { n.IndexingEnabled = true }
func manual(n *sites.NewWebsite)   { n.ManualSubmit = true }

func (w *fixture) google(s sites.Website) sites.Website {
	w.Helper()
	s, err := w.SetCredentials(w.Context(), s.ID, standin.Credentials(), sites.Account{ClientEmail: standin.ClientEmail, ProjectID: standin.ProjectID})
	w.must(err)
	return s
}

const indexNowKey = "0123456789abcdef"

func (w *fixture) indexNow(s sites.Website) sites.Website {
	w.Helper()
	key := indexNowKey
	s, err := w.Edit(w.Context(), s.ID, sites.Edit{IndexNowKey: &key})
	w.must(err)
	return s
}

func (w *fixture) sitemap(s sites.Website, url string) sites.Sitemap {
	w.Helper()
	m, _, err := w.AddSitemap(w.Context(), s.ID, url)
	w.must(err)
	return m
}

func (w *fixture) sitemaps(s sites.Website) map[string]sites.Sitemap {
	w.Helper()
	list, err := w.SitemapsOf(w.Context(), s.ID, models.Cursor{}, 2000)
	w.must(err)
	all := map[string]sites.Sitemap{}
	for _, m := range list.Items {
		all[m.URL] = m
	}
	return all
}

// have stores pages of a website through a sitemap.
func (w *fixture) have(s sites.Website, urls ...string) {
	w.Helper()
	m := w.sitemap(s, s.Property().Root()+"sitemap.xml")
	var entries []sites.Entry
	for _, url := range urls {
		u, err := models.ParseURL("url", url)
		w.must(err)
		entries = append(entries, sites.Entry{URL: u})
	}
	w.must(w.BeginReading(w.Context(), m))
	for some := range slices.Chunk(entries, sites.StoreBatch) {
		_, err := w.StoreEntries(w.Context(), s, m, some)
		w.must(err)
	}
	w.must(w.RecordRead(w.Context(), m, sites.ReadResult{Stored: true, Kind: sites.KindSitemap, Pages: len(entries), ContentHash: fmt.Append(nil, urls), Complete: true}))
}

func numbered(base string, n int) []string {
	urls := make([]string, n)
	for i := range urls {
		urls[i] = fmt.Sprintf("%s%d", base, i+1)
	}
	return urls
}

func (w *fixture) pages(s sites.Website, f sites.Filter) map[string]sites.Page {
	w.Helper()
	list, err := w.Pages(w.Context(), s.ID, f, models.Cursor{}, 1000)
	w.must(err)
	all := map[string]sites.Page{}
	for _, p := range list.Items {
		all[p.Path()] = p
	}
	return all
}

func (w *fixture) paths(s sites.Website, f sites.Filter) string {
	w.Helper()
	var paths []string
	for path := range w.pages(s, f) {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return strings.Join(paths, " ")
}

func (w *fixture) again(s sites.Website) sites.Website {
	w.Helper()
	s, err := w.Get(w.Context(), s.ID)
	w.must(err)
	return s
}

func (w *fixture) submissions(s sites.Website) []sites.Submission {
	w.Helper()
	list, err := w.Submissions(w.Context(), s.ID, sites.SubmissionFilter{}, models.Cursor{}, 1000)
	w.must(err)
	slices.Reverse(list.Items)
	return list.Items
}

// has fails the test unless text contains part.
func (w *fixture) has(what, text, part string) {
	w.Helper()
	if !strings.Contains(text, part) {
		w.Errorf("%s: got %q, want %q", what, text, part)
	}
	if strings.Contains(text, "..") {
		w.Errorf("%s: double period in %q", what, text)
	}
}

func urls(requests []standin.Request) (all []string) {
	for _, r := range requests {
		all = append(all, r.URL)
	}
	return all
}

type host struct {
	*httptest.Server
	mu       sync.Mutex
	files    map[string]http.HandlerFunc
	requests map[string]int
}

func newHost(t testing.TB) *host {
	t.Helper()
	h := &host{files: map[string]http.HandlerFunc{}, requests: map[string]int{}}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.requests[r.URL.Path]++
		file := h.files[r.URL.Path]
		h.mu.Unlock()
		if file == nil {
			http.NotFound(w, r)
			return
		}
		file(w, r)
	}))
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	return h
}

func (h *host) handle(path string, file http.HandlerFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.files[path] = file
}

// put sets the content of a path. %s is replaced by the URL of the host.
func (h *host) put(path, body string) {
	body = strings.ReplaceAll(body, "%s", h.URL)
	h.handle(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
}

func (h *host) count(path string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.requests[path]
}

func urlset(paths ...string) string {
	return `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>` +
		absolute(paths, "</loc></url><url><loc>") + "</loc></url></urlset>"
}

func index(paths ...string) string {
	return `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>` +
		absolute(paths, "</loc></sitemap><sitemap><loc>") + "</loc></sitemap></sitemapindex>"
}

func absolute(paths []string, between string) string {
	var all []string
	for _, p := range paths {
		if strings.HasPrefix(p, "/") {
			p = "%s" + p
		}
		all = append(all, p)
	}
	return strings.Join(all, between)
}
