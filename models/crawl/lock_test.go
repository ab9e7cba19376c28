package crawl_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linkwatch/models/crawl"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
)

// TestLockHasOneWinner checks that exactly one of 16 concurrent workers locks a job, in each round.
func TestLockHasOneWinner(t *testing.T) {
	each(t, func(w *world) {
		var holders []lease.ID
		for i := range 16 {
			holders = append(holders, modelstest.Lease(w.T, w.db, "i_"+string(rune('a'+i))))
		}
		j := w.job("http://a.example/", 24*time.Hour)
		for round := 1; round <= 20; round++ {
			if _, err := w.Act(w.Context(), j.ID, crawl.ForceRun); err != nil {
				t.Fatal(err)
			}
			var won atomic.Int32
			var winner crawl.Execution
			start := make(chan struct{})
			var all sync.WaitGroup
			for _, holder := range holders {
				all.Go(func() {
					<-start
					e, began, err := w.StartExecution(w.Context(), holder, w.get(j).Seq)
					if err != nil {
						t.Error(err)
					}
					if began {
						won.Add(1)
						winner = e
					}
				})
			}
			close(start)
			all.Wait()
			if won.Load() != 1 {
				t.Fatalf("round %d: got %d winners", round, won.Load())
			}
			if winner.ExecutionNumber != round || winner.LockToken == "" {
				t.Errorf("round %d: got %+v", round, winner)
			}
			err := w.EndExecution(w.Context(), winner, crawl.ExecutionEnd{Event: crawl.Succeed})
			w.ok(err)
		}
	})
}

// TestCountsOfAContinuedCrawl checks that an execution that continues a crawl takes over the counts of changes, the hash of
// the start page and the open entries. The crawled pages stay with the first execution.
func TestCountsOfAContinuedCrawl(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", time.Hour)
		pages := site{"/": "Home\n->/a\n->/b\n->/c", "/a": "Alpha", "/b": "Beta"}
		w.crawlSite(j, pages)
		pages["/a"], pages["/b"], pages["/c"] = "Alpha\nmore", "status 410", "Gamma\n->/d\n->/e"
		_, err := w.Act(w.Context(), j.ID, crawl.ForceRun)
		w.ok(err)
		first := w.begin()
		for range 2 { // the start page, then the page that it links to
			turn := w.turn()
			for len(turn.Unfetched) > 0 {
				turn.Add(w.visit(turn, pages))
			}
			w.ok(w.Record(w.Context(), turn))
		}
		w.ok(w.EndExecution(w.Context(), first, crawl.ExecutionEnd{Event: crawl.Release, Error: crawl.Interrupted}))
		first, err = w.Execution(w.Context(), first.ID)
		w.ok(err)
		second := w.begin()
		for _, e := range []crawl.Execution{first, second} {
			if e.PagesNew != 1 || e.PagesChanged != 1 || e.PagesGone != 1 || e.Queued != 2 || e.StartHash == "" {
				t.Errorf("run %d: got %+v", e.ExecutionNumber, e)
			}
		}
		if second.StartHash != first.StartHash || second.CrawlSeq != first.CrawlSeq || second.Metadata["continues"] != first.ID || second.ItemsCrawled != 0 || first.ItemsCrawled != 4 {
			t.Errorf("got %+v\nand %+v", first, second)
		}
		stored, err := w.Execution(w.Context(), second.ID)
		w.ok(err)
		if stored.PagesNew != 1 || stored.PagesChanged != 1 || stored.PagesGone != 1 || stored.Queued != 2 || len(w.changes(stored, "")) != 3 {
			t.Errorf("got %+v, %v", stored, w.changes(stored, ""))
		}
	})
}

// TestRetries checks that a failed run is retried with a doubling backoff, as often as the job allows. A manual retry resets
// the attempts.
func TestRetries(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", 0)
		for retry := 1; retry <= crawl.DefaultRetries; retry++ {
			err := w.EndExecution(w.Context(), w.begin(), crawl.ExecutionEnd{Event: crawl.Fail, Error: "broken"})
			w.ok(err)
			got := w.get(j)
			pause := time.Minute << (retry - 1)
			if got.Status != crawl.Pending || got.CurrentRetryCount != retry || got.NextRunAt != w.Now().Add(pause) || got.LastError != "broken" {
				t.Errorf("retry %d: got %+v", retry, got)
			}
			w.clock.Advance(pause)
		}
		e := w.begin()
		if e.RetryAttempt != crawl.DefaultRetries {
			t.Errorf("got attempt %d", e.RetryAttempt)
		}
		err := w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Fail, Error: "broken"})
		w.ok(err)
		if got := w.get(j); got.Status != crawl.Failed || !got.NextRunAt.IsZero() {
			t.Errorf("no retries left: got %+v", got)
		}
		got, err := w.Act(w.Context(), j.ID, crawl.Retry)
		w.ok(err)
		if got.Status != crawl.Pending || got.CurrentRetryCount != 0 || got.NextRunAt != w.Now() {
			t.Errorf("manual retry: got %+v", got)
		}
	})
}

// TestSchedule checks that a recurring job first runs within its first interval but not at once, and keeps its phase, also
// after a forced run.
func TestSchedule(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", 6*time.Hour)
		first := j.NextRunAt
		if j.Status != crawl.Scheduled || !first.After(w.Now().Time) || first.After(w.Now().Add(6*time.Hour).Time) {
			t.Fatalf("got first run at %v", first)
		}
		w.clock.Advance(first.Sub(w.Now().Time) + 7*time.Minute) // it starts late
		e := w.begin()
		w.clock.Advance(10 * time.Minute)
		err := w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Succeed})
		w.ok(err)
		if got := w.get(j); got.NextRunAt != first.Add(6*time.Hour) {
			t.Errorf("got next run at %v, want %v", got.NextRunAt, first.Add(6*time.Hour))
		}
		_, err = w.Act(w.Context(), j.ID, crawl.ForceRun)
		w.ok(err)
		e = w.begin()
		w.clock.Advance(time.Minute)
		err = w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Succeed})
		w.ok(err)
		if got := w.get(j); got.NextRunAt != first.Add(6*time.Hour) {
			t.Errorf("after a forced run: got %v, want %v", got.NextRunAt, first.Add(6*time.Hour))
		}
	})
}

// TestAdaptiveScheduling checks that the interval of an adaptive job doubles while its start page is unchanged, up to a day,
// and is reset when the page changes.
func TestAdaptiveScheduling(t *testing.T) {
	w := newWorld(t, modelstest.New(t))
	j := w.job("http://a.example/", 6*time.Hour)
	for i, c := range []struct {
		hash  string
		hours int
	}{{"1", 6}, {"1", 12}, {"1", 24}, {"1", 24}, {"2", 6}, {"", 6}, {"2", 12}} {
		want := time.Duration(c.hours) * time.Hour
		w.clock.Advance(w.get(j).NextRunAt.Sub(w.Now().Time))
		e := w.begin()
		modelstest.Exec(w.T, w.db, "UPDATE job_executions SET start_hash = ? WHERE seq = ?", c.hash, e.Seq)
		err := w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Succeed})
		w.ok(err)
		if got := w.get(j); got.EffectiveInterval() != want || got.NextRunAt != w.Now().Add(want) {
			t.Errorf("run %d: got interval %v, next run in %v", i+1, got.EffectiveInterval(), got.NextRunAt.Sub(w.Now().Time))
		}
	}
}

// TestDisabledAndDeletedSources checks that the jobs of a disabled source do not start until it is enabled, and that a
// restored source has its jobs.
func TestDisabledAndDeletedSources(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", 0)
		no, yes := false, true
		due := func(want int) {
			t.Helper()
			if seqs, _, err := w.DueJobs(w.Context(), 10); err != nil || len(seqs) != want {
				t.Errorf("got %d due jobs, want %d, error %v", len(seqs), want, err)
			}
		}
		_, err := w.EditSource(w.Context(), j.SourceID, crawl.SourceEdit{Enabled: &no})
		w.ok(err)
		due(0)
		_, err = w.EditSource(w.Context(), j.SourceID, crawl.SourceEdit{Enabled: &yes})
		w.ok(err)
		due(1)
		w.begin()
		_, err = w.EditSource(w.Context(), j.SourceID, crawl.SourceEdit{Enabled: &no})
		w.ok(err)
		running, err := w.RunningExecutions(w.Context(), w.me)
		if err != nil || len(running) != 1 || running[0].Enabled || running[0].Deleted {
			t.Errorf("got %+v, %v", running, err)
		}
		w.ok(w.DeleteSource(w.Context(), j.SourceID))
		if running, err := w.RunningExecutions(w.Context(), w.me); err != nil || len(running) != 1 || !running[0].Deleted {
			t.Errorf("got %+v, %v", running, err)
		}
		_, err = w.RestoreSource(w.Context(), j.SourceID)
		w.ok(err)
		w.get(j)
	})
}
