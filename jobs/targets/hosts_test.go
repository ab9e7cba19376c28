package targets_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
	"linkwatch/outbound"
)

// At most MAX_CONCURRENCY requests run at once.
func TestNoMoreThanMaxConcurrency(t *testing.T) {
	each(t, func(w world) {
		const workers, all = 4, 24
		var now, asked atomic.Int64
		full := make(chan struct{})
		urls := w.sites(all, func(_ http.ResponseWriter, r *http.Request) {
			defer now.Add(-1)
			if n := now.Add(1); n > workers {
				w.Errorf("%d at once", n)
			}
			if asked.Add(1) == workers {
				close(full)
			}
			wait(r, full) // so many are under way together
		})
		w.start(workers, outbound.Options{Timeout: time.Minute})
		w.add(urls...)
		w.recorded(all)
	})
}

// Checks of one host, including retries, run one after another even if workers are idle.
// Checks of other hosts run at the same time.
func TestOneCheckPerHostAtATime(t *testing.T) {
	each(t, func(w world) {
		var mu sync.Mutex
		var paths []string // requested from the host
		release := make(chan struct{})
		host := w.site(func(rw http.ResponseWriter, r *http.Request) {
			mu.Lock()
			paths = append(paths, r.URL.Path)
			mu.Unlock()
			wait(r, release)
			if r.URL.Path == "/0" {
				rw.WriteHeader(http.StatusBadGateway)
			}
		})
		asked := func() int { mu.Lock(); defer mu.Unlock(); return len(paths) }
		w.start(8, outbound.Options{Timeout: time.Minute})
		w.add(host + "/0")
		modelstest.Eventually(w, "the host gets a request", func() bool { return asked() == 1 })
		w.add(host+"/1", host+"/2")
		modelstest.Eventually(w, "the others wait", func() bool { return w.metric("linkwatch_check_queue_depth") == 2 })
		for _, s := range w.sites(4, func(http.ResponseWriter, *http.Request) {}) { // which other workers check meanwhile
			w.add(s)
		}
		w.recorded(4)
		if n := asked(); n != 1 {
			w.Errorf("%d requests at once", n)
		}
		close(release)
		w.recorded(7)
		if got := fmt.Sprint(paths); got != "[/0 /0 /0 /1 /2]" {
			w.Errorf("requests %s: another check ran between the attempts of one", got)
		}
	})
}

// Every target of a busy host is checked, and none twice.
func TestNoTargetStarves(t *testing.T) {
	each(t, func(w world) {
		w.Store = targets.NewStore(w.db, nil, targets.Options{CheckInterval: time.Hour, Retention: time.Hour})
		const all = 150
		added := make(chan struct{})
		s := w.site(func(_ http.ResponseWriter, r *http.Request) { wait(r, added) })
		w.start(2, outbound.Options{Timeout: time.Minute})
		for i := range all {
			w.add(fmt.Sprintf("%s/%d", s, i))
		}
		modelstest.Eventually(w, "too many wait", func() bool { return w.metric("linkwatch_checks_deferred_total") > 0 })
		close(added)
		seen := map[string]bool{}
		for _, r := range w.recorded(all) {
			seen[r.TargetID] = true
		}
		if len(seen) != all {
			w.Errorf("%d targets were checked %d times", len(seen), all)
		}
		w.free()
	})
}

// After their first check, hosts that hang share at most half of the workers, so that
// other hosts do not wait for them.
func TestHangingHostsShareHalfOfTheWorkers(t *testing.T) {
	each(t, func(w world) {
		const n = 12
		var under atomic.Int64
		hang := func(_ http.ResponseWriter, r *http.Request) {
			under.Add(1)
			defer under.Add(-1)
			<-r.Context().Done()
		}
		hanging := w.add(w.sites(n, hang)...)
		modelstest.Exec(w, w.db, "UPDATE targets SET last_error = 'timed out'") // each was tried before
		healthy := w.add(w.sites(n, func(http.ResponseWriter, *http.Request) {})...)
		c := w.start(4, outbound.Options{Timeout: time.Hour}) // nothing that hangs ends during the test
		w.recorded(n)
		w.again(healthy...)
		for _, r := range w.recorded(2 * n) {
			if r.Outcome != targets.UpOutcome || r.Attempts != 1 || slices.Contains(hanging, r.TargetID) {
				w.Errorf("got %+v", r)
			}
		}
		if got := under.Load(); got != 2 {
			w.Errorf("%d of 4 workers wait for hosts that hang, want 2", got)
		}
		c.Stop(ended())
		w.recorded(2 * n) // what was cut short leaves no result
		w.free()
	})
}

// Hosts that return 101 and keep the connection open do not block workers, even if there
// are more of them than workers.
func TestProtocolSwitchesHoldNoWorker(t *testing.T) {
	each(t, func(w world) {
		const workers = 8
		release := make(chan struct{})
		w.Cleanup(func() { close(release) })
		switching := w.sites(workers+1, func(rw http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(rw).Hijack()
			if err != nil {
				w.Error(err)
				return
			}
			defer func() { _ = conn.Close() }()
			_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
			<-release
		})
		w.start(workers, outbound.Options{Timeout: time.Minute})
		w.add(switching...)
		for _, r := range w.recorded(workers + 1) {
			if r.Outcome != targets.DownOutcome || r.Error != "unexpected protocol switch" || r.Attempts != 3 {
				w.Errorf("got %+v", r)
			}
		}
		w.add(w.site(func(http.ResponseWriter, *http.Request) {}))
		if r := w.recorded(workers + 2)[workers+1]; r.Outcome != targets.UpOutcome {
			w.Errorf("got %+v", r)
		}
	})
}

// A Retry-After postpones only the target that got it. Its neighbors are checked, and crawls of the host do not wait.
func TestThrottledTargets(t *testing.T) {
	each(t, func(w world) {
		s := w.site(func(rw http.ResponseWriter, r *http.Request) {
			status := map[string]int{"/throttled": http.StatusTooManyRequests, "/failing": http.StatusServiceUnavailable}[r.URL.Path]
			if status > 0 {
				rw.Header().Set("Retry-After", "600")
				rw.WriteHeader(status)
			}
		})
		w.start(4, outbound.Options{Timeout: time.Minute})
		throttled := w.add(s + "/throttled")[0]
		r := w.recorded(1)[0]
		if r.Outcome != targets.ThrottledOutcome || r.Error != "throttled: status 429" || r.Attempts != 1 {
			w.Errorf("got %+v", r)
		}
		failing := w.add(s + "/failing")[0]
		// A 5xx is usually retried, but not before Retry-After.
		r = w.recorded(2)[1]
		if r.Outcome != targets.DownOutcome || r.Error != "unexpected status 503" || r.Attempts != 1 {
			w.Errorf("got %+v", r)
		}
		for _, id := range []string{throttled, failing} {
			if t := w.get(id); t.NextCheckAt.Sub(w.Now().Time) != 10*time.Minute {
				w.Errorf("state %s, next check at %v", t.State, t.NextCheckAt)
			}
		}
		w.add(s + "/fine")
		if r := w.recorded(3)[2]; r.Outcome != targets.UpOutcome || w.metric("linkwatch_checks_deferred_total") != 0 {
			w.Errorf("the neighbor: %+v", r)
		}
	})
}

// While a target hangs, its neighbors are late, and another instance says why. Then they have their turn before the
// next one that hangs or may hang because it is new. A requested check is the first of them.
func TestNeighborsOfATargetThatHangs(t *testing.T) {
	each(t, func(w world) {
		var mu sync.Mutex
		var paths []string
		release := make(chan struct{})
		s := w.site(func(_ http.ResponseWriter, r *http.Request) {
			mu.Lock()
			paths = append(paths, r.URL.Path)
			mu.Unlock()
			if r.URL.Path == "/hangs/1" {
				wait(r, release)
			}
		})
		asked := func() int { mu.Lock(); defer mu.Unlock(); return len(paths) }
		ids := w.add(s+"/hangs/1", s+"/hangs/2", s+"/a", s+"/b", s+"/c")
		modelstest.Exec(w, w.db, "UPDATE target_schedule SET requested_at = NULL")
		modelstest.Exec(w, w.db, "UPDATE targets SET last_checked_at = created_at - 1")
		modelstest.Exec(w, w.db, "UPDATE targets SET last_error = 'timed out' WHERE url LIKE '%/hangs/%'")
		modelstest.Exec(w, w.db, "UPDATE target_schedule SET due_at = due_at + target_seq, next_check_at = next_check_at + target_seq")
		w.clock.Advance(time.Second)
		w.start(8, outbound.Options{Timeout: time.Minute})
		modelstest.Eventually(w, "one hangs", func() bool { return asked() == 1 })
		modelstest.Eventually(w, "the others wait", func() bool { return w.metric("linkwatch_check_queue_depth") == 4 })
		w.clock.Advance(5 * time.Second)
		other := targets.NewStore(w.db, w.clock.Now, targets.Options{CheckInterval: interval, Retention: time.Hour})
		modelstest.Eventually(w, "the reason is known", func() bool {
			t, err := other.Get(w.Context(), ids[2])
			w.must(err)
			return t.Late.Reason == "another check of "+t.HostPort()+" is running" && t.Late.Since == t.DueAt
		})
		if late := w.get(ids[0]).Late; late != (targets.Late{}) {
			w.Errorf("the one that hangs is late: %+v", late)
		}
		n, longest, err := other.Lateness(w.Context())
		if err != nil || n != 4 || longest < 5*time.Second {
			w.Errorf("%d late by %v, %v", n, longest, err)
		}
		w.must(other.RequestCheck(w.Context(), ids[4])) // by another instance, so found by the poll
		w.add(s + "/new")
		modelstest.Eventually(w, "the new one waits", func() bool { return w.metric("linkwatch_check_queue_depth") == 5 })
		close(release)
		w.recorded(6)
		if got := fmt.Sprint(paths); got != "[/hangs/1 /c /a /b /new /hangs/2]" {
			w.Errorf("requests %s", got)
		}
		if n, _, err := other.Lateness(w.Context()); n != 0 || err != nil {
			w.Errorf("%d late, %v", n, err)
		}
		w.free()
	})
}

// CHECKS_PER_HOST allows more than one check of a host, and not more than that many.
func TestChecksPerHost(t *testing.T) {
	each(t, func(w world) {
		const perHost = 3
		var now, asked atomic.Int64
		full := make(chan struct{})
		s := w.site(func(_ http.ResponseWriter, r *http.Request) {
			defer now.Add(-1)
			if n := now.Add(1); n > perHost {
				w.Errorf("%d at once", n)
			}
			if asked.Add(1) == perHost {
				close(full)
			}
			wait(r, full)
		})
		w.perHost = perHost
		w.start(8, outbound.Options{Timeout: time.Minute})
		for i := range 9 {
			w.add(fmt.Sprintf("%s/%d", s, i))
		}
		w.recorded(9)
		w.free()
	})
}
