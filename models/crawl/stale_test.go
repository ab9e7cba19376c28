package crawl_test

import (
	"testing"
	"time"

	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// hangs returns a result of the next entry of a batch: no response came.
func hangs(w *world, t *crawl.HostBatch, status crawl.EntryStatus) crawl.Result {
	e := t.Unfetched[0]
	t.Unfetched = t.Unfetched[1:]
	t.Failures++
	t.LastAttemptAt, t.NextAt = w.Now(), w.Now().Add(time.Second)
	return crawl.Result{Entry: e, Status: status, Reason: "timed out", Unreachable: true}
}

// TestStaleRuns checks which runs end because nothing happened for longer than staleAfter. At the start, the start page was
// just fetched and /1 and /2 of its host are open.
func TestStaleRuns(t *testing.T) {
	for _, c := range []struct {
		name  string
		do    func(w *world)
		stale bool
	}{
		{"its request hangs", func(w *world) {
			w.turn()
			w.clock.Advance(staleAfter + time.Second)
		}, true},
		{"its request takes as long as allowed", func(w *world) {
			w.turn()
			w.clock.Advance(staleAfter)
		}, false},
		{"its host times out and is retried", func(w *world) {
			for range 4 {
				turn := w.turn()
				w.clock.Advance(staleAfter / 4)
				turn.Add(hangs(w, turn, crawl.EntryPending))
				w.ok(w.Record(w.Context(), turn))
				w.clock.Advance(time.Second)
			}
		}, true},
		{"the next request after timeouts hangs", func(w *world) {
			turn := w.turn()
			w.clock.Advance(staleAfter / 2)
			turn.Add(hangs(w, turn, crawl.EntryPending))
			w.ok(w.Record(w.Context(), turn))
			w.clock.Advance(time.Second)
			w.turn()
			w.clock.Advance(staleAfter / 2)
		}, true},
		{"an entry fails after timeouts", func(w *world) {
			turn := w.turn()
			w.clock.Advance(staleAfter)
			turn.Add(hangs(w, turn, crawl.EntryFailed))
			w.ok(w.Record(w.Context(), turn))
			w.clock.Advance(time.Second)
		}, false},
		{"its host responds with errors", func(w *world) {
			turn := w.turn()
			w.clock.Advance(staleAfter)
			r := hangs(w, turn, crawl.EntryPending)
			r.Unreachable, turn.Failures = false, 0
			turn.Add(r)
			w.ok(w.Record(w.Context(), turn))
			w.clock.Advance(staleAfter)
		}, false},
		{"its host responds with errors and is paused", func(w *world) {
			turn := w.turn()
			r := hangs(w, turn, crawl.EntryPending)
			r.Unreachable = false
			turn.Add(r)
			turn.NextAt = w.Now().Add(3 * staleAfter)
			w.ok(w.Record(w.Context(), turn))
			w.clock.Advance(2 * staleAfter)
		}, false},
		{"its host demands a pause", func(w *world) {
			turn := w.turn()
			turn.Add(fetched(turn, w.Now()))
			turn.NextAt = w.Now().Add(3 * staleAfter)
			w.ok(w.Record(w.Context(), turn))
			w.clock.Advance(3*staleAfter + time.Second)
			w.turn()
			w.clock.Advance(staleAfter - time.Second)
		}, false},
		{"its host hangs after a pause", func(w *world) {
			turn := w.turn()
			turn.Add(fetched(turn, w.Now()))
			turn.NextAt = w.Now().Add(3 * staleAfter)
			w.ok(w.Record(w.Context(), turn))
			w.clock.Advance(3 * staleAfter)
			w.turn()
			w.clock.Advance(staleAfter + time.Second)
		}, true},
		{"its claimed host waits for a worker", func(w *world) {
			hosts, _, err := w.ClaimHosts(w.Context(), w.me, 1, 0)
			w.ok(err)
			w.clock.Advance(3 * staleAfter)
			_, err = w.LoadEntries(w.Context(), hosts[0], 10)
			w.ok(err)
			w.clock.Advance(staleAfter)
		}, false},
		{"no instance claims its host", func(w *world) { w.clock.Advance(staleAfter + time.Second) }, true},
		{"another of its hosts responds", func(w *world) {
			turn := w.turn()
			turn.Add(fetched(turn, w.Now(), "http://b.example/"))
			w.ok(w.Record(w.Context(), turn))
			hosts, _, err := w.ClaimHosts(w.Context(), w.me, 2, 0)
			w.ok(err)
			for _, h := range hosts {
				turn := &crawl.HostBatch{Host: h}
				turn.Unfetched, err = w.LoadEntries(w.Context(), h, 10)
				w.ok(err)
				if h.Host == "b.example" {
					w.clock.Advance(staleAfter)
					turn.Add(fetched(turn, w.Now(), "http://b.example/2"))
					turn.NextAt = w.Now()
					w.ok(w.Record(w.Context(), turn))
				}
			}
			w.clock.Advance(time.Minute)
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(w *world) {
				j := w.job("http://a.example/", 0)
				e := w.begin()
				turn := w.turn()
				turn.LastAttemptAt = w.Now()
				turn.Add(fetched(turn, w.Now(), "http://a.example/1", "http://a.example/2"))
				w.ok(w.Record(w.Context(), turn))
				c.do(w)
				n, err := w.ClearStaleLocks(w.Context())
				w.ok(err)
				if stale := n == 1; stale != c.stale {
					t.Fatalf("got %d stale runs", n)
				}
				if !c.stale {
					return
				}
				e, err = w.Execution(w.Context(), e.ID)
				w.ok(err)
				if got := w.get(j); e.Status != crawl.ExecutionFailed || e.ErrorMessage != "no progress" || got.LockToken != nil || !got.WaitsForRetry() ||
					got.NextRunAt != w.Now().Add(time.Minute) {
					t.Errorf("got %+v\n%+v", e, got)
				}
				lines, err := w.Log(w.Context(), e, 0, 100)
				w.ok(err)
				if got := lines[len(lines)-2].Message; got != "no response for=5m0s hosts=a.example" {
					t.Errorf("got log line %q", got)
				}
			})
		})
	}
}

// TestRunOnAPausedHost starts a run while its host is paused because an earlier request failed, and checks whether it ends
// without progress.
func TestRunOnAPausedHost(t *testing.T) {
	const pause = 3 * staleAfter
	for _, c := range []struct {
		name  string
		do    func(w *world)
		stale bool
	}{
		{"the host is paused", func(w *world) { w.clock.Advance(staleAfter + time.Second) }, false},
		{"the first request takes as long as allowed", func(w *world) {
			w.clock.Advance(pause)
			w.turn()
			w.clock.Advance(staleAfter)
		}, false},
		{"the first request hangs", func(w *world) {
			w.clock.Advance(pause)
			w.turn()
			w.clock.Advance(staleAfter + time.Second)
		}, true},
		{"the next pause counts", func(w *world) {
			w.clock.Advance(pause)
			turn := w.turn()
			w.clock.Advance(time.Second)
			turn.Add(hangs(w, turn, crawl.EntryPending))
			turn.NextAt = w.Now().Add(pause)
			w.ok(w.Record(w.Context(), turn))
			w.clock.Advance(staleAfter)
		}, true},
		{"no instance claims the host after its pause", func(w *world) { w.clock.Advance(pause + staleAfter + time.Second) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(w *world) {
				_, _, err := w.AddEntry(w.Context(), "http://a.example/1", "")
				w.ok(err)
				turn := w.turn()
				turn.Add(hangs(w, turn, crawl.EntryPending))
				turn.NextAt = w.Now().Add(pause + time.Second)
				w.ok(w.Record(w.Context(), turn))
				w.clock.Advance(time.Second)
				w.job("http://a.example/", 0)
				w.begin()
				c.do(w)
				n, err := w.ClearStaleLocks(w.Context())
				w.ok(err)
				if stale := n == 1; stale != c.stale {
					w.Errorf("got %d stale runs", n)
				}
			})
		})
	}
}

// TestRunWithoutProgressFails checks that a run whose host hangs fails after its last retry, with an event, and that each
// retry continues it.
func TestRunWithoutProgressFails(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", 0)
		for retry := range crawl.DefaultRetries + 1 {
			e := w.begin()
			if e.RetryAttempt != retry || e.Queued != 1 || retry > 0 && e.Metadata["continues"] == nil {
				t.Errorf("retry %d: got %+v", retry, e)
			}
			turn := w.turn()
			w.clock.Advance(staleAfter + time.Second)
			if n, err := w.ClearStaleLocks(w.Context()); err != nil || n != 1 {
				t.Fatalf("cleared %d locks, %v", n, err)
			}
			w.ok(w.Record(w.Context(), turn)) // its request is cancelled
			w.clock.Advance(w.get(j).NextRunAt.Sub(w.Now().Time))
		}
		if got := w.get(j); got.Status != crawl.Failed || got.CrawlSeq != nil || got.LastError != "no progress" {
			t.Errorf("got %+v", got)
		}
		if n := len(modelstest.Events(w.T, w.db)); n != 1 {
			t.Errorf("got %d events", n)
		}
		m, err := w.CollectMetrics(w.Context())
		w.ok(err)
		if m.StaleLocksCleared != crawl.DefaultRetries+1 {
			t.Errorf("got %d", m.StaleLocksCleared)
		}
	})
}
