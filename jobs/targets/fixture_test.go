package targets_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/jobs"
	targetjobs "linkwatch/jobs/targets"
	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
	"linkwatch/outbound"
)

// interval is longer than any test.
const interval = 8 * time.Second

// world is a store of targets on loopback sites. Only the test advances its clock.
// Therefore targets are due only when they are added or a check is requested.
type world struct {
	*testing.T
	*targets.Store
	db      *models.DB
	clock   *modelstest.Clock
	log     *modelstest.Log
	reg     *prometheus.Registry
	perHost int // 0 = 1
}

// each runs a test on every engine. The test must not leak goroutines.
func each(t *testing.T, test func(w world)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		modelstest.NoLeaks(t)
		clock := modelstest.NewClock()
		store := targets.NewStore(db, clock.Now, targets.Options{CheckInterval: interval, Retention: time.Hour})
		test(world{T: t, Store: store, db: db, clock: clock, log: modelstest.NewLog(t), reg: prometheus.NewRegistry()})
	})
}

// start starts a checker that is stopped at the end of the test, in case the test does not.
func (w world) start(workers int, o outbound.Options) jobs.Service {
	w.Helper()
	return w.startOver(w.Store, w.reg, workers, o)
}

// startOver starts a checker of another instance.
func (w world) startOver(store *targets.Store, reg *prometheus.Registry, workers int, o outbound.Options) jobs.Service {
	w.Helper()
	log := slog.New(slog.NewTextHandler(w.log, nil))
	l := lease.New(w.db, w.clock.Now)
	w.must(l.Beat(w.Context()))
	heartbeat := jobs.NewHeartbeat(l, log)
	heartbeat.Start()
	w.Cleanup(func() { heartbeat.Stop(ended()) })
	o.AllowCIDRs = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	o.MaxConcurrent = workers
	client := outbound.New(o)
	c, err := targetjobs.NewChecker(store, l, client, workers, w.perHost, log, reg)
	w.must(err)
	c.Start()
	w.Cleanup(func() {
		c.Stop(ended()) // checks that still run hang
		client.Close()
	})
	return c
}

func (w world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// add adds targets and returns their ids.
func (w world) add(urls ...string) (ids []string) {
	w.Helper()
	for _, u := range urls {
		t, created, err := w.Add(w.Context(), targets.New{URL: u})
		if err != nil || !created {
			w.Fatalf("adding %s: %v, %v", u, created, err)
		}
		ids = append(ids, t.ID)
	}
	return ids
}

func (w world) get(id string) targets.Target {
	w.Helper()
	t, err := w.Get(w.Context(), id)
	w.must(err)
	return t
}

// again requests a check of each target.
func (w world) again(ids ...string) {
	w.Helper()
	for _, id := range ids {
		w.must(w.RequestCheck(w.Context(), id))
	}
}

// results returns all results, oldest first.
func (w world) results() []targets.Result {
	w.Helper()
	page, err := w.Results(w.Context(), targets.ResultFilter{}, models.Cursor{}, models.MaxLimit)
	w.must(err)
	slices.Reverse(page.Items)
	return page.Items
}

// recorded waits until n results are stored.
func (w world) recorded(n int) []targets.Result {
	w.Helper()
	modelstest.Eventually(w, fmt.Sprintf("%d results", n), func() bool { return len(w.results()) >= n })
	rs := w.results()
	if len(rs) != n {
		w.Fatalf("%d results, want %d", len(rs), n)
	}
	return rs
}

// free fails if a target is claimed.
func (w world) free() {
	w.Helper()
	var claimed int64
	w.must(w.db.Read(w.Context()).Table("target_schedule").Where("claimed_by IS NOT NULL").Count(&claimed).Error)
	if claimed > 0 {
		w.Errorf("%d targets are claimed", claimed)
	}
}

// metric returns the value of a counter or gauge without labels.
func (w world) metric(name string) float64 {
	w.Helper()
	families, err := w.reg.Gather()
	w.must(err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetCounter().GetValue() + f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	w.Fatalf("there is no metric %s", name)
	return 0
}

// site starts a server with its own port, and therefore its own host, until the test ends.
func (w world) site(h http.HandlerFunc) string {
	w.Helper()
	s := httptest.NewServer(h)
	w.Cleanup(s.Close)
	return s.URL
}

// sites starts n sites with the same handler.
func (w world) sites(n int, h http.HandlerFunc) (urls []string) {
	w.Helper()
	for range n {
		urls = append(urls, w.site(h))
	}
	return urls
}

// wait blocks a handler until the channel is closed or the client disconnects.
func wait(r *http.Request, until <-chan struct{}) {
	select {
	case <-until:
	case <-r.Context().Done():
	}
}
