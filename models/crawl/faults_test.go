package crawl_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

func (w *world) n(sql string, args ...any) (n int64) {
	w.Helper()
	w.ok(w.db.Read(context.Background()).Raw(sql, args...).Scan(&n).Error)
	return n
}

// TestEntryDeletedDuringItsFetch checks that an entry deleted during its fetch counts once.
func TestEntryDeletedDuringItsFetch(t *testing.T) {
	each(t, func(w *world) {
		w.job("http://a.example/", 0)
		w.begin()
		tn := w.turn()
		tn.Add(fetched(tn, w.Now(), "http://a.example/1", "http://a.example/2", "http://a.example/3"))
		w.ok(w.Record(w.Context(), tn))
		tn = w.turn() // 3 entries, all "fetching"
		list, err := w.Frontier(w.Context(), crawl.EntryFilter{Status: crawl.EntryFetching}, models.Cursor{}, 10)
		w.ok(err)
		w.ok(w.DeleteEntry(w.Context(), list.Items[0].ID()))
		tn.Add(fetched(tn, w.Now()))
		w.ok(w.Record(w.Context(), tn))
		open := w.n("SELECT count(*) FROM frontier WHERE status IN ('pending','fetching')")
		queued := w.n("SELECT queued FROM job_executions")
		if open != queued {
			w.Errorf("open=%d queued=%d", open, queued)
		}
	})
}

// TestInterruptedCrawlDoesNotBlockItsHost checks that a paused, interrupted crawl with thousands of open entries does
// not block other crawls of its host.
func TestInterruptedCrawlDoesNotBlockItsHost(t *testing.T) {
	each(t, func(w *world) {
		a := w.job("http://a.example/", 0)
		e := w.begin()
		tn := w.turn()
		var links []string
		for i := range 4200 {
			links = append(links, fmt.Sprintf("http://a.example/p%d", i))
		}
		tn.Add(fetched(tn, w.Now(), links...))
		w.ok(w.Record(w.Context(), tn))
		w.ok(w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Release}))
		_, err := w.Act(w.Context(), a.ID, crawl.Pause)
		w.ok(err)
		w.job("http://a.example/b", 0)
		w.begin()
		tn = w.turn()
		tn.Add(fetched(tn, w.Now(), "http://a.example/b2"))
		w.ok(w.Record(w.Context(), tn))
		for range 3 {
			tn = w.turn()
			if len(tn.Unfetched) > 0 {
				return
			}
			tn.NextAt = w.Now()
			w.ok(w.Record(w.Context(), tn))
		}
		w.Error("http://a.example/b2 is never fetched while the other job is paused")
	})
}

// TestQueuedCrawlIsNotStale checks that the waiting one of two crawls of a host is not stale.
func TestQueuedCrawlIsNotStale(t *testing.T) {
	each(t, func(w *world) {
		w.job("http://a.example/", 0)
		w.begin()
		tn := w.turn()
		var links []string
		for i := range 200 {
			links = append(links, fmt.Sprintf("http://a.example/p%d", i))
		}
		tn.Add(fetched(tn, w.Now(), links...))
		w.ok(w.Record(w.Context(), tn))
		w.job("http://a.example/b", 0)
		w.begin()
		tn = w.turn()
		tn.Add(fetched(tn, w.Now(), "http://a.example/b2"))
		w.ok(w.Record(w.Context(), tn))
		for range 40 { // longer than staleAfter
			w.clock.Advance(staleAfter / 30)
			tn = w.turn()
			for range 3 {
				tn.Add(fetched(tn, w.Now()))
			}
			tn.NextAt = w.Now()
			w.ok(w.Record(w.Context(), tn))
		}
		w.turn()
		n, err := w.ClearStaleLocks(w.Context())
		w.ok(err)
		var es []struct{ Status, ErrorMessage string }
		w.ok(w.db.Read(w.Context()).Raw("SELECT status, error_message FROM job_executions").Scan(&es).Error)
		if n > 0 {
			w.Errorf("%d stale: %v", n, es)
		}
	})
}

// TestInterruptedCrawlOfADeletedJobIsReaped checks that a deleted job with an interrupted crawl is reaped, and does not
// block the reaping of others.
func TestInterruptedCrawlOfADeletedJobIsReaped(t *testing.T) {
	each(t, func(w *world) {
		a := w.job("http://a.example/", 0)
		e := w.begin()
		w.ok(w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Release}))
		w.ok(w.DeleteJob(w.Context(), a.ID))
		w.clock.Advance(time.Minute)
		b := w.job("http://b.example/", 0)
		e = w.begin()
		w.ok(w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Fail, Error: "x"}))
		w.ok(w.DeleteJob(w.Context(), b.ID))
		w.clock.Advance(40 * 24 * time.Hour)
		for range 20 {
			w.ok(w.db.Write(w.Context(), func(tx *gorm.DB) error {
				for _, f := range []func(*gorm.DB, int) (int64, error){w.ReapFrontier, w.ReapExecutions, w.ReapSources} {
					if _, err := f(tx, 1000); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		if w.n("SELECT count(*) FROM jobs") > 0 {
			w.Error("jobs deleted 40 days ago are still there")
		}
		src, err := w.Sources(w.Context(), "", models.Cursor{}, 10)
		w.ok(err)
		for _, s := range src.Items {
			w.ok(w.DeleteSource(w.Context(), s.ID))
		}
		w.clock.Advance(40 * 24 * time.Hour)
		for range 20 {
			w.ok(w.db.Write(w.Context(), func(tx *gorm.DB) error {
				for _, f := range []func(*gorm.DB, int) (int64, error){w.ReapFrontier, w.ReapExecutions, w.ReapSources} {
					if _, err := f(tx, 1000); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		if n := w.n("SELECT count(*) FROM sources"); n > 0 {
			w.Errorf("%d deleted sources are still there", n)
		}
	})
}

// TestHostIsNotReapedWhileURLsAreAdded checks that a host is not reaped while a crawl adds one of its URLs.
func TestHostIsNotReapedWhileURLsAreAdded(t *testing.T) {
	each(t, func(w *world) {
		if w.db.Engine != models.Postgres {
			return // SQLite has one writer
		}
		w.job("http://a.example/", 7*24*time.Hour)
		w.clock.Advance(8 * 24 * time.Hour)
		w.begin()
		w.crawlAll2()
		w.clock.Advance(8 * 24 * time.Hour)
		done := make(chan error, 1)
		w.ok(w.db.Write(w.Context(), func(tx *gorm.DB) error {
			_, err := w.ReapHosts(tx, 100)
			go func() {
				_, err := w.AddJob(context.Background(), crawl.NewJob{URL: "http://a.example/again", Interval: crawl.Interval{Type: crawl.Minutes}})
				if err == nil {
					seqs, _, _ := w.DueJobs(context.Background(), 10)
					_, _, err = w.StartExecution(context.Background(), w.me, seqs[len(seqs)-1])
				}
				done <- err
			}()
			time.Sleep(200 * time.Millisecond) // without the lock, StartExecution would read the host during this time
			return err
		}))
		w.ok(<-done)
		if n := w.n("SELECT count(*) FROM frontier f WHERE status='pending' AND NOT EXISTS (SELECT 1 FROM crawl_hosts h WHERE h.seq=f.host_seq)"); n > 0 {
			w.Errorf("%d open entries of a host that is not there", n)
		}
	})
}

func (w *world) crawlAll2() {
	tn := w.turn()
	r := fetched(tn, w.Now())
	tn.LastAttemptAt = w.Now()
	tn.Add(r)
	w.ok(w.Record(w.Context(), tn))
}

// TestStartPageThatRedirectsToItself checks that a start page that redirects to itself fails its execution.
func TestStartPageThatRedirectsToItself(t *testing.T) {
	each(t, func(w *world) {
		w.job("http://a.example/", 0)
		w.begin()
		tn := w.turn()
		e := tn.Unfetched[0]
		tn.Unfetched = nil
		tn.Add(crawl.Result{Entry: e, Status: crawl.EntryPending, RedirectTo: e.URL})
		w.ok(w.Record(w.Context(), tn))
		running, err := w.RunningExecutions(w.Context(), w.me)
		w.ok(err)
		if running[0].Queued == 0 && running[0].StartError == "" {
			w.Error("the execution completes without its start page")
		}
	})
}

// TestDeletedDiscoveredLinkIsRestored checks that a deleted discovered link is restored when a crawl finds it again.
func TestDeletedDiscoveredLinkIsRestored(t *testing.T) {
	each(t, func(w *world) {
		w.job("http://a.example/", 0)
		w.begin()
		tn := w.turn()
		r := fetched(tn, w.Now(), "http://a.example/2")
		r.Discovered = []crawl.DiscoveredLink{{SourceSeq: r.Entry.Crawl.Source, URL: "http://x.example/", FoundOn: r.Entry.URL}}
		tn.Add(r)
		w.ok(w.Record(w.Context(), tn))
		l, err := w.DiscoveredLinks(w.Context(), crawl.DiscoveredFilter{}, models.Cursor{}, 10)
		w.ok(err)
		_, err = w.DeleteDiscoveredLinks(w.Context(), l.Items[0].ID())
		w.ok(err)
		tn = w.turn()
		r = fetched(tn, w.Now())
		r.Discovered = []crawl.DiscoveredLink{{SourceSeq: r.Entry.Crawl.Source, URL: "http://x.example/", FoundOn: r.Entry.URL}}
		tn.Add(r)
		w.ok(w.Record(w.Context(), tn))
		if w.n("SELECT count(*) FROM discovered_links WHERE deleted_at IS NULL") == 0 {
			w.Error("it does not come back")
		}
	})
}

// TestFailedTransactionsDoNotCountPatterns checks that failed transactions do not count towards the limit of a path pattern.
func TestFailedTransactionsDoNotCountPatterns(t *testing.T) {
	each(t, func(w *world) {
		w.job("http://a.example/", 0)
		w.begin()
		tn := w.turn()
		var links []string
		for i := range 2000 {
			links = append(links, fmt.Sprintf("http://a.example/p/%d", i))
		}
		r := fetched(tn, w.Now(), links...)
		r.Page.StatusCode = 5000 // any database error
		tn.Add(r)
		for range 6 {
			if err := w.Record(w.Context(), tn); err == nil {
				w.Fatal("no error")
			}
		}
		tn.Results[0].Page.StatusCode = 200
		w.ok(w.Record(w.Context(), tn))
		if n := w.n("SELECT count(*) FROM frontier"); n != 2001 {
			w.Errorf("%d of 2001 URLs are in the frontier", n)
		}
	})
}

// TestLogHasALimit checks that no batch of lines makes the log larger than its limit.
func TestLogHasALimit(t *testing.T) {
	each(t, func(w *world) {
		w.job("http://a.example/", 0)
		w.begin()
		tn := w.turn()
		var links []string
		for i := range 30000 {
			links = append(links, fmt.Sprintf("http://a.example/%s/%d", strings.Repeat("a", 300), i))
		}
		tn.Add(fetched(tn, w.Now(), links...))
		w.ok(w.Record(w.Context(), tn))
		if n := w.n("SELECT max(length(text)) FROM job_logs"); n > crawl.MaxLog {
			w.Errorf("a piece of the log has %d bytes", n)
		}
	})
}

// TestStoredLines checks that lines which a full log does not store are not counted as lines that can be read.
func TestStoredLines(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", 0)
		w.begin()
		want := 0
		for _, full := range []bool{false, true} {
			if full {
				modelstest.Exec(t, w.db, "UPDATE job_executions SET log_bytes = ?", crawl.MaxLog)
				tn := w.turn()
				tn.Add(fetched(tn, w.Now()))
				w.ok(w.Record(w.Context(), tn))
			}
			e, _, err := w.LastExecution(w.Context(), j)
			w.ok(err)
			lines, err := w.Log(w.Context(), e, 0, 100)
			w.ok(err)
			if !full {
				want = len(lines)
			}
			n, err := w.StoredLines(w.Context(), e)
			if err != nil || n != want || len(lines) != want || full != (e.LogLines > n) {
				w.Errorf("full %v: got %d lines, %v, of %d; want %d", full, n, err, e.LogLines, want)
			}
		}
	})
}

// TestURLOfADeletedSourceCanBeAddedAgain checks that a URL that waits for a deleted source can be added again.
func TestURLOfADeletedSourceCanBeAddedAgain(t *testing.T) {
	each(t, func(w *world) {
		_, _, err := w.AddEntry(w.Context(), "http://a.example/x", "")
		w.ok(err)
		l, err := w.Sources(w.Context(), "", models.Cursor{}, 10)
		w.ok(err)
		w.ok(w.DeleteSource(w.Context(), l.Items[0].ID))
		_, created, err := w.AddEntry(w.Context(), "http://a.example/x", "")
		if err != nil {
			w.Errorf("created=%v err=%v", created, err)
		}
	})
}

// TestMissedRunsAreSkipped checks that enabling a source plans its jobs in phase, without runs for the missed ones.
func TestMissedRunsAreSkipped(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", time.Hour)
		l, err := w.Sources(w.Context(), "", models.Cursor{}, 10)
		w.ok(err)
		no, yes := false, true
		_, err = w.EditSource(w.Context(), l.Items[0].ID, crawl.SourceEdit{Enabled: &no})
		w.ok(err)
		w.clock.Advance(100 * time.Hour)
		_, err = w.EditSource(w.Context(), l.Items[0].ID, crawl.SourceEdit{Enabled: &yes})
		w.ok(err)
		if j = w.get(j); j.NextRunAt.Before(w.Now().Time) {
			w.Errorf("next_run_at is %s ago", w.Now().Sub(j.NextRunAt.Time))
		}
	})
}
