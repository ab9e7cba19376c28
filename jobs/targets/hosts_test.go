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

	"linkwatch/models/targets"
	"linkwatch/outbound"
)

// Servers never see more than MAX_CONCURRENCY requests at once.
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

// Checks of one host, with their retries, run one after another. Checks of other
// hosts run meanwhile.
func TestOneCheckPerHostAtATime(t *testing.T) {
	each(t, func(w world) {
		var mu sync.Mutex
		asked := map[string][]string{} // the paths, by host
		busy := map[string]bool{}
		first := 0
		met := make(chan struct{}) // all three hosts are asked at the same time
		handler := func(rw http.ResponseWriter, r *http.Request) {
			mu.Lock()
			if busy[r.Host] {
				w.Errorf("%s is asked for two things at once", r.Host)
			}
			busy[r.Host] = true
			asked[r.Host] = append(asked[r.Host], r.URL.Path)
			if r.URL.Path == "/0" {
				if first++; first == 3 {
					close(met)
				}
			}
			mu.Unlock()
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				busy[r.Host] = false
			}()
			if r.URL.Path == "/0" {
				wait(r, met)
			}
			time.Sleep(time.Millisecond) // long enough for others to come in between, if they may
			if r.URL.Path == "/1" {
				rw.WriteHeader(http.StatusBadGateway)
			}
		}
		var urls []string
		for _, s := range w.sites(3, handler) {
			for i := range 4 {
				urls = append(urls, fmt.Sprintf("%s/%d", s, i))
			}
		}
		w.start(8, outbound.Options{Timeout: time.Minute})
		w.add(urls...)
		w.recorded(len(urls))
		for host, paths := range asked {
			if len(paths) != 6 { // three attempts for /1
				w.Errorf("%s was asked %v", host, paths)
			}
			if once := slices.Compact(paths); len(once) != 4 {
				w.Errorf("%s: another check came between the attempts of one: %v", host, once)
			}
		}
	})
}

// However many wait for a host, each has its turn, and none is checked twice.
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
		w.until("too many wait", func() bool { return w.metric("linkwatch_checks_deferred_total") > 0 })
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

// Hosts that hang never hold up those that answer, however few workers there
// are: nothing here ends before its timeout, which is after the test.
func TestHangingHostsDelayNobody(t *testing.T) {
	each(t, func(w world) {
		const n = 12
		hanging := w.sites(n, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		healthy := w.sites(n, func(http.ResponseWriter, *http.Request) {})
		c := w.start(4, outbound.Options{Timeout: time.Hour})
		w.add(hanging...)
		ids := w.add(healthy...)
		w.recorded(n)
		w.again(ids...)
		for _, r := range w.recorded(2 * n) {
			if r.Outcome != targets.UpOutcome || r.Attempts != 1 {
				w.Errorf("got %+v", r)
			}
		}
		c.Stop(ended())
		w.recorded(2 * n) // nothing is said about those that were cut short
		w.free()
	})
}

// Hosts that answer 101 and keep the connection do not hold up the workers, though there are more of them.
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

// A host that asks for a pause gets it: 429 says nothing about its health, and
// until the pause is over nothing of it is asked.
func TestThrottledHosts(t *testing.T) {
	each(t, func(w world) {
		var asked atomic.Int64
		s := w.site(func(rw http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			rw.Header().Set("Retry-After", "90")
			rw.WriteHeader(http.StatusTooManyRequests)
		})
		busy := w.site(func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Retry-After", "600")
			rw.WriteHeader(http.StatusServiceUnavailable)
		})
		w.start(4, outbound.Options{Timeout: time.Minute})
		first := w.add(s + "/1")[0]
		r := w.recorded(1)[0]
		if r.Outcome != targets.ThrottledOutcome || r.Error != "throttled: status 429" || r.Attempts != 1 {
			w.Errorf("got %+v", r)
		}
		if t := w.get(first); t.State != targets.Pending || t.NextCheckAt.Sub(w.Now().Time) < 90*time.Second {
			w.Errorf("state %s, next check at %v", t.State, t.NextCheckAt)
		}
		second := w.add(s + "/2")[0]
		w.until("the second is put off", func() bool { return w.get(second).NextCheckAt.After(w.Now().Time) })
		t := w.get(second)
		if wait := t.NextCheckAt.Sub(w.Now().Time); wait < 60*time.Second || wait > 91*time.Second || t.ClaimedBy != "" || !t.DueAt.Equal(w.Now().Time) {
			w.Errorf("put off for %v: %+v", wait, t)
		}
		if asked.Load() != 1 || w.metric("linkwatch_checks_deferred_total") != 1 {
			w.Errorf("asked %d times", asked.Load())
		}
		// A 5xx would be tried again, but not against the host's wish.
		third := w.add(busy)[0]
		r = w.recorded(2)[1]
		if r.Outcome != targets.DownOutcome || r.Error != "unexpected status 503" || r.Attempts != 1 {
			w.Errorf("got %+v", r)
		}
		if t := w.get(third); t.NextCheckAt.Sub(w.Now().Time) < 10*time.Minute {
			w.Errorf("next check at %v", t.NextCheckAt)
		}
	})
}
