package crawl_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/jobs"
	crawljobs "linkwatch/jobs/crawl"
	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
	"linkwatch/outbound"
)

// world is a store with crawlers. It uses the real clock.
type world struct {
	*testing.T
	store *crawl.Store
	db    *models.DB
	log   *slog.Logger
}

func newWorld(t *testing.T, db *models.DB) *world {
	t.Helper()
	return &world{t, crawl.NewStore(db, time.Now, crawl.Options{StaleAfter: 5 * time.Minute, FeedInterval: time.Minute}), db, slog.New(slog.NewTextHandler(modelstest.NewLog(t), nil))}
}

// each runs a test on each database.
func each(t *testing.T, test func(w *world)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(newWorld(t, db)) })
}

// instance is a running crawler with its own lease.
type instance struct {
	*crawljobs.Crawler
	lease     *lease.Lease
	heartbeat jobs.Service
}

// client returns a client that may request the test servers.
func (w *world) client(timeout time.Duration) *outbound.Client {
	c := outbound.New(outbound.Options{AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Timeout: timeout, MaxConcurrent: 8})
	w.Cleanup(c.Close)
	return c
}

// instance returns an instance that is not started. change changes its options.
func (w *world) instance(change ...func(*crawljobs.Options)) *instance {
	w.Helper()
	instanceLease := lease.New(w.db, time.Now)
	client := w.client(time.Minute)
	o := crawljobs.Options{
		Lease: instanceLease, Client: client, Robots: outbound.NewRobots(client, outbound.RobotsOptions{Agent: "Linkwatch"}), Workers: 8, PollInterval: 50 * time.Millisecond,
		FollowRedirects: true, MaxRedirects: 5, Agent: "Linkwatch", Log: w.log, Registry: prometheus.NewRegistry(),
	}
	for _, f := range change {
		f(&o)
	}
	c, err := crawljobs.New(w.store, o)
	if err != nil {
		w.Fatal(err)
	}
	return &instance{c, instanceLease, jobs.NewHeartbeat(instanceLease, w.log)}
}

// start starts an instance, which stops with the test.
func (w *world) start(change ...func(*crawljobs.Options)) *instance {
	w.Helper()
	i := w.instance(change...)
	i.heartbeat.Start()
	i.Start()
	w.Cleanup(i.stop)
	return i
}

// stop stops the instance like SIGTERM.
func (i *instance) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	i.Stop(ctx)
	i.heartbeat.Stop(ctx)
}

type site struct {
	*httptest.Server
	mu       sync.Mutex
	requests map[string]int
	busy     int
	together int // maximum number of concurrent requests
}

// newSite serves pages by path; the handler for "" serves all others.
func newSite(t *testing.T, pages map[string]http.HandlerFunc) *site {
	t.Helper()
	s := &site{requests: map[string]int{}}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests[r.URL.Path]++
		s.busy++
		s.together = max(s.together, s.busy)
		s.mu.Unlock()
		defer func() { s.mu.Lock(); s.busy--; s.mu.Unlock() }()
		page := pages[r.URL.Path]
		if page == nil {
			page = pages[""]
		}
		if page == nil {
			http.NotFound(w, r)
			return
		}
		page(w, r)
	}))
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// count returns the number of requests for a path.
func (s *site) count(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[path]
}

// html serves a page with a title and links.
func html(title string, links ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<!doctype html><html lang=en><head><title>%s</title></head><body><p>Text of %s.</p>", title, title)
		for _, l := range links {
			fmt.Fprintf(w, "<a href=\"%s\">link</a> ", l)
		}
	}
}

// job adds a one-time job without pauses between requests; change changes it.
func (w *world) job(url string, change ...func(*crawl.NewJob)) crawl.Job {
	w.Helper()
	zero := 0
	n := crawl.NewJob{URL: url, AdaptiveScheduling: true, Interval: crawl.Interval{Type: crawl.Minutes}, Source: crawl.NewSource{RateLimitMS: &zero}}
	for _, f := range change {
		f(&n)
	}
	j, err := w.store.AddJob(w.Context(), n)
	if err != nil {
		w.Fatal(err)
	}
	return j
}

// ended waits until the newest execution of a job has ended, and returns it.
func (w *world) ended(j crawl.Job) crawl.Execution {
	w.Helper()
	var e crawl.Execution
	modelstest.Eventually(w.T, "the execution ends", func() bool {
		var ok bool
		var err error
		e, ok, err = w.store.LastExecution(context.Background(), j)
		if err != nil {
			w.Fatal(err)
		}
		return ok && e.Status != crawl.ExecutionRunning
	})
	return e
}

// entries returns the entries of the frontier, keyed by their URL without base.
func (w *world) entries(base string) map[string]string {
	w.Helper()
	list, err := w.store.Frontier(w.Context(), crawl.EntryFilter{}, models.Cursor{}, 500)
	if err != nil {
		w.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range list.Items {
		all[e.URL[min(len(base), len(e.URL)):]] = string(e.Status) + " " + e.LastError
	}
	return all
}
