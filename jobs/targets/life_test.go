package targets_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	targetjobs "linkwatch/jobs/targets"
	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
	"linkwatch/outbound"
)

// ended returns a canceled context: a shutdown without a grace period.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// On shutdown with a full queue, running checks finish with their retries and are stored.
// Waiting ones are released at once.
func TestStopInAFullQueue(t *testing.T) {
	each(t, func(w world) {
		release := make(chan struct{})
		running := make(chan string, 100)
		var asked atomic.Int64
		var urls []string
		for _, s := range w.sites(5, func(rw http.ResponseWriter, r *http.Request) {
			running <- r.Host
			asked.Add(1)
			wait(r, release)
			if asked.Load() < 4 {
				rw.WriteHeader(http.StatusInternalServerError)
			}
		}) {
			for i := range 4 {
				urls = append(urls, fmt.Sprintf("%s/%d", s, i))
			}
		}
		c := w.start(2, outbound.Options{Timeout: time.Minute})
		w.add(urls...)
		<-running
		<-running
		var stopped sync.WaitGroup
		stopped.Go(func() { c.Stop(w.Context()) })
		modelstest.Eventually(w, "waiting targets are released", func() bool { return w.metric("linkwatch_check_queue_depth") == 0 })
		close(release)
		stopped.Wait()
		for _, r := range w.recorded(2) {
			if r.Attempts != 3 && r.Attempts != 2 {
				w.Errorf("got %+v", r)
			}
		}
		w.free()
		c.Stop(w.Context()) // is no problem
	})
}

// Canceled checks store nothing, and their targets are released at once.
func TestStopWithoutGrace(t *testing.T) {
	each(t, func(w world) {
		running := make(chan struct{}, 10)
		s := w.sites(2, func(_ http.ResponseWriter, r *http.Request) { running <- struct{}{}; <-r.Context().Done() })
		c := w.start(2, outbound.Options{Timeout: time.Minute})
		w.add(s...)
		<-running
		<-running
		c.Stop(ended())
		w.recorded(0)
		w.free()
	})
}

// Other instances release the claims of a killed instance after a few heartbeats.
func TestKilledInstancesTargetsAreFreed(t *testing.T) {
	each(t, func(w world) {
		s := w.site(func(http.ResponseWriter, *http.Request) {})
		killed := modelstest.Lease(w, w.db, "k_killed")
		id := w.add(s + "/1")[0]
		if ts, _, err := w.Claim(w.Context(), killed, 10); len(ts) != 1 || err != nil {
			w.Fatal(ts, err)
		}
		w.start(2, outbound.Options{})
		w.add(s + "/2")
		if r := w.recorded(1)[0]; r.TargetID == id {
			w.Fatal("a claimed target was checked")
		}
		modelstest.Eventually(w, "it is freed", func() bool { return w.get(id).ClaimedBy != killed })
		w.recorded(2)
	})
}

// After a time without checks, the overdue checks are spread over one interval.
func TestNoThunderingHerdAtStart(t *testing.T) {
	each(t, func(w world) {
		const all = 60
		var urls []string
		for i, s := range w.sites(6, func(http.ResponseWriter, *http.Request) {}) {
			for j := range all / 6 {
				urls = append(urls, fmt.Sprintf("%s/%d/%d", s, i, j))
			}
		}
		w.add(urls...)
		w.clock.Advance(24 * time.Hour)
		w.start(8, outbound.Options{})
		due := func(before models.Time) (n int) {
			var count int64
			w.must(w.db.Read(w.Context()).Table("target_schedule").Where("next_check_at <= ?", before).Count(&count).Error)
			return int(count)
		}
		modelstest.Eventually(w, "they are spread", func() bool { return due(w.Now()) <= 1 })
		half := due(w.Now().Add(interval / 2))
		if half < all/4 || half > all*3/4 || due(w.Now().Add(interval)) != all {
			w.Fatalf("%d of %d are due in half an interval, %d in a whole one", half, all, due(w.Now().Add(interval)))
		}
		w.clock.Advance(interval / 2)
		other := w.site(func(http.ResponseWriter, *http.Request) {})
		w.add(other) // rings
		w.recorded(half + 1)
	})
}

// An instance does not check targets that another instance has claimed, even if it has
// idle workers.
func TestTwoInstancesShareTheTargets(t *testing.T) {
	each(t, func(w world) {
		const blocked, workers = 8, 16 // both instances have idle workers
		release := make(chan struct{})
		var mu sync.Mutex
		asked := map[string]int{} // by path
		site := func(rw http.ResponseWriter, r *http.Request) {
			mu.Lock()
			asked[r.URL.Path]++
			mu.Unlock()
			if strings.HasPrefix(r.URL.Path, "/blocked") {
				wait(r, release)
			}
		}
		var urls []string
		for i, s := range w.sites(blocked, site) {
			urls = append(urls, fmt.Sprintf("%s/blocked/%d", s, i))
		}
		other := targets.NewStore(w.db, w.clock.Now, w.Options())
		w.start(workers, outbound.Options{Timeout: time.Minute})
		w.startOver(other, prometheus.NewRegistry(), workers, outbound.Options{Timeout: time.Minute})
		w.add(urls...)
		under := func() int { mu.Lock(); defer mu.Unlock(); return len(asked) }
		modelstest.Eventually(w, "all are requested", func() bool { return under() == blocked })
		// Each of these is claimed after the blocked ones, so both instances have claimed again.
		for _, store := range []*targets.Store{w.Store, other} {
			for i, s := range w.sites(5, site) {
				u := fmt.Sprintf("%s/free/%p/%d", s, store, i)
				_, _, err := store.Add(w.Context(), targets.New{URL: u})
				w.must(err)
			}
		}
		w.recorded(10)
		close(release)
		w.recorded(blocked + 10)
		for path, n := range asked {
			if n != 1 {
				w.Errorf("%s was requested %d times", path, n)
			}
		}
	})
}

// Finished checks are kept in memory while the store fails, and stored when it works again.
func TestResultsWaitForTheStore(t *testing.T) {
	each(t, func(w world) {
		s := w.site(func(http.ResponseWriter, *http.Request) {})
		w.start(2, outbound.Options{})
		id := w.add(s)[0]
		w.recorded(1)
		modelstest.Exec(w, w.db, "ALTER TABLE check_results RENAME TO elsewhere")
		w.again(id)
		modelstest.Eventually(w, "it is told", func() bool { return strings.Contains(w.log.String(), "store failed") })
		modelstest.Exec(w, w.db, "ALTER TABLE elsewhere RENAME TO check_results")
		if rs := w.recorded(2); !rs[1].CheckedAt.After(rs[0].CheckedAt.Time) {
			w.Errorf("both started at %v", rs[0].CheckedAt)
		}
		modelstest.Eventually(w, "it is well", func() bool { return strings.Contains(w.log.String(), "store recovered") })
		if n := strings.Count(w.log.String(), "store failed"); n != 1 {
			w.Errorf("logged %d times:\n%s", n, w.log)
		}
		w.free()
	})
}

// After a store error it is unknown which claims were committed. The checker releases
// targets that it does not have in memory, and continues when the store works again.
func TestChecksGoOnAfterAnError(t *testing.T) {
	each(t, func(w world) {
		s := w.site(func(http.ResponseWriter, *http.Request) {})
		w.start(2, outbound.Options{})
		id := w.add(s)[0]
		w.recorded(1)
		modelstest.Exec(w, w.db, "ALTER TABLE instances RENAME TO elsewhere")
		w.again(id)
		modelstest.Eventually(w, "it is told", func() bool { return strings.Contains(w.log.String(), "store failed") })
		// Like a claim whose commit was not confirmed.
		modelstest.Exec(w, w.db, "UPDATE target_schedule SET claimed_by = (SELECT id FROM elsewhere)")
		modelstest.Exec(w, w.db, "ALTER TABLE elsewhere RENAME TO instances")
		w.recorded(2)
		w.free()
	})
}

// If another instance removes this instance as dead, waiting targets are claimed again.
func TestLeaseEndsWhileChecksWait(t *testing.T) {
	each(t, func(w world) {
		release, running := make(chan struct{}), make(chan struct{}, 10)
		s := w.site(func(_ http.ResponseWriter, r *http.Request) { running <- struct{}{}; wait(r, release) })
		w.start(2, outbound.Options{Timeout: time.Minute})
		ids := w.add(s+"/1", s+"/2")
		<-running
		modelstest.Eventually(w, "the other waits", func() bool { return w.metric("linkwatch_check_queue_depth") == 1 })
		modelstest.Exec(w, w.db, "DELETE FROM instances") // like another instance that misses the heartbeat
		modelstest.Eventually(w, "the end is noticed", func() bool { return strings.Contains(w.log.String(), "lease lost") })
		close(release)
		w.checkedSpread(ids...)
	})
}

// ring wakes the checker, because advancing the clock does not.
func (w world) ring() {
	w.Helper()
	w.add(fmt.Sprintf("http://127.0.0.1:1/%d", time.Now().UnixNano()))
}

// checkedSpread waits until a new lease has spread the targets. It then advances the
// clock over one interval until all are checked.
func (w world) checkedSpread(ids ...string) {
	w.Helper()
	modelstest.Eventually(w, "they are spread over an interval from now", func() bool {
		for _, id := range ids {
			if t := w.get(id); t.LastCheckedAt.IsZero() && t.DueAt.Before(w.Now().Time) {
				w.ring()
				return false
			}
		}
		return true
	})
	moved := time.Duration(0)
	modelstest.Eventually(w, "each is checked", func() bool {
		for _, id := range ids {
			if w.get(id).LastCheckedAt.IsZero() {
				if moved < interval {
					moved += time.Second
					w.clock.Advance(time.Second)
				}
				w.ring()
				return false
			}
		}
		return true
	})
}

func TestMetrics(t *testing.T) {
	each(t, func(w world) {
		release := make(chan struct{})
		close(release)
		hold := atomic.Pointer[chan struct{}]{}
		hold.Store(&release)
		running := make(chan struct{}, 10)
		s := w.site(func(rw http.ResponseWriter, r *http.Request) {
			running <- struct{}{}
			wait(r, *hold.Load())
			if strings.HasPrefix(r.URL.Path, "/missing") {
				rw.WriteHeader(http.StatusNotFound)
			}
		})
		c := w.start(2, outbound.Options{Timeout: time.Minute})
		ids := w.add(s+"/up", s+"/missing", s+"/paused", s+"/deleted")
		w.recorded(4)
		for range 4 {
			<-running
		}
		yes, no := true, false
		_, err := w.Edit(w.Context(), ids[2], targets.Edit{Paused: &yes})
		w.must(err)
		w.must(w.Delete(w.Context(), ids[3]))
		expected := fmt.Sprintf(`
# HELP probe_success Whether the target is up (1) or down (0).
# TYPE probe_success gauge
probe_success{target="%[1]s"} 1
probe_success{target="%[2]s"} 0
# HELP probe_http_status_code HTTP status of the last response, 0 if there was none.
# TYPE probe_http_status_code gauge
probe_http_status_code{target="%[1]s"} 200
probe_http_status_code{target="%[2]s"} 404
# HELP linkwatch_checks_total Total number of finished checks, by outcome.
# TYPE linkwatch_checks_total counter
linkwatch_checks_total{outcome="down"} 1
linkwatch_checks_total{outcome="throttled"} 0
linkwatch_checks_total{outcome="up"} 3
`, ids[0], ids[1])
		all := prometheus.Gatherers{w.reg, targetjobs.Probes{Store: w.Store, Log: slog.New(slog.DiscardHandler)}}
		w.must(testutil.GatherAndCompare(all, strings.NewReader(expected), "probe_success", "probe_http_status_code", "linkwatch_checks_total"))
		if n, err := testutil.GatherAndCount(all, "probe_duration_seconds"); n != 2 || err != nil {
			w.Errorf("%d durations, %v", n, err)
		}

		// A target that waits for its host longer than its interval misses checks.
		blocked := make(chan struct{})
		hold.Store(&blocked)
		w.again(ids[0])
		<-running
		w.again(ids[1])
		modelstest.Eventually(w, "it waits", func() bool { return w.metric("linkwatch_check_queue_depth") == 1 })
		w.clock.Advance(interval + time.Second)
		close(blocked)
		w.recorded(6)
		if n := w.metric("linkwatch_checks_skipped_total"); n != 1 {
			w.Errorf("%v skipped, want 1", n)
		}
		_, err = w.Edit(w.Context(), ids[2], targets.Edit{Paused: &no})
		w.must(err)
		w.recorded(7)
		c.Stop(w.Context())
		if n := w.metric("linkwatch_checks_running"); n != 0 {
			w.Errorf("%v are running", n)
		}
		// Two checkers cannot share a registry. A failed store does not break a scrape.
		w.must(w.db.Close())
		if n, err := testutil.GatherAndCount(w.reg, "linkwatch_checks_total"); n != 3 || err != nil {
			w.Errorf("%d series, %v", n, err)
		}
	})
}
