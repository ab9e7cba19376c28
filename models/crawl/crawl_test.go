package crawl_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
)

// TestCrawl checks that a crawl fetches and counts each page once, and ends when the frontier is empty.
func TestCrawl(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", 0)
		if j.Status != crawl.Pending || j.NextRunAt != w.Now() {
			t.Errorf("one-time job: got %s, due %v", j.Status, j.NextRunAt)
		}
		e := w.begin()
		if got := w.get(j); got.Status != crawl.Running || got.LockToken == nil || got.ClaimedBy != w.me {
			t.Errorf("after begin: got %+v", got)
		}
		w.crawlAll(func(url string) []string {
			return []string{"http://a.example/", "http://a.example/1", "http://a.example/2", "http://b.example/", url}
		})
		e, err := w.Execution(w.Context(), e.ID)
		w.ok(err)
		if e.Queued != 0 || e.Fetched != 4 || e.Failed != 0 || e.ItemsCrawled != 4 || e.ItemsIndexed != 4 || e.StartHash == "" {
			t.Errorf("after the crawl: got %+v", e)
		}
		err = w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Succeed})
		w.ok(err)
		if got := w.get(j); got.Status != crawl.Completed || got.LockToken != nil || !got.NextRunAt.IsZero() {
			t.Errorf("got job %+v", got)
		}
		lines, err := w.Log(w.Context(), e, 0, 100)
		w.ok(err)
		if len(lines) != 6 || lines[0].Message != "crawl started url=http://a.example/" || !strings.HasPrefix(lines[5].Message, "crawl completed pages=4") {
			t.Errorf("got log %q", lines)
		}
		if next, _ := w.Log(w.Context(), e, 4, 100); !slices.Equal(next, lines[4:]) {
			t.Errorf("log after line 4: got %q", next)
		}
	})
}

// TestInterruptedCrawlContinues checks that an interrupted crawl continues in a new execution and counts no page twice.
func TestInterruptedCrawlContinues(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", 24*time.Hour)
		w.clock.Advance(24 * time.Hour)
		first := w.begin()
		turn := w.turn()
		turn.Add(fetched(turn, w.Now(), "http://a.example/1", "http://a.example/2"))
		w.ok(w.Record(w.Context(), turn))
		turn = w.turn() // two entries are being fetched when the instance stops
		turn.Add(fetched(turn, w.Now(), "http://a.example/3"))
		err := w.EndExecution(w.Context(), first, crawl.ExecutionEnd{Event: crawl.Release, Error: crawl.Interrupted})
		w.ok(err)
		w.ok(w.Record(w.Context(), turn)) // its results are stored after another instance took over
		if got := w.get(j); got.Status != crawl.Scheduled || got.NextRunAt != w.Now() || got.CurrentRetryCount != 0 {
			t.Errorf("after release: got %+v", got)
		}
		second := w.begin()
		if second.Queued != 2 || second.StartHash == "" {
			t.Errorf("continued with %d entries: %+v", second.Queued, second)
		}
		w.crawlAll(func(string) []string { return []string{"http://a.example/1"} })
		second, err = w.Execution(w.Context(), second.ID)
		w.ok(err)
		first, err = w.Execution(w.Context(), first.ID)
		w.ok(err)
		if second.Queued != 0 || first.ItemsCrawled+second.ItemsCrawled != 4 || second.ItemsCrawled != 2 {
			t.Errorf("got %d + %d pages, %d queued", first.ItemsCrawled, second.ItemsCrawled, second.Queued)
		}
		if first.Status != crawl.ExecutionFailed || first.ErrorMessage != "instance stopped" {
			t.Errorf("first execution: got %s, %s", first.Status, first.ErrorMessage)
		}
		err = w.EndExecution(w.Context(), second, crawl.ExecutionEnd{Event: crawl.Succeed})
		w.ok(err)
		if got := w.get(j); got.Status != crawl.Scheduled || !got.NextRunAt.After(w.Now().Time) || got.CrawlSeq != nil {
			t.Errorf("got job %+v", got)
		}
	})
}

// TestCancel checks that canceling ends the execution at once, and that its open entries are closed.
func TestCancel(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", 0)
		e := w.begin()
		turn := w.turn()
		turn.Add(fetched(turn, w.Now(), "http://a.example/1", "http://a.example/2"))
		w.ok(w.Record(w.Context(), turn))
		got, err := w.Act(w.Context(), j.ID, crawl.Cancel)
		w.ok(err)
		if got.Status != crawl.Cancelled || got.CancelledAt.IsZero() || got.LockToken != nil {
			t.Errorf("got job %+v", got)
		}
		e, err = w.Execution(w.Context(), e.ID)
		w.ok(err)
		if e.Status != crawl.ExecutionCancelled {
			t.Errorf("got execution status %s", e.Status)
		}
		if err := w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Succeed}); !errors.Is(err, crawl.ErrLockLost) {
			t.Errorf("second end: got %v", err)
		}
		list, err := w.Frontier(w.Context(), crawl.EntryFilter{}, models.Cursor{}, 10)
		w.ok(err)
		if n := len(list.Items); n != 3 || list.Items[2].Status != crawl.EntryFailed || list.Items[2].LastError != crawl.ReasonEnded {
			t.Errorf("got frontier %+v", list.Items)
		}
		turn = w.turn()
		if len(turn.Unfetched) != 0 {
			t.Errorf("got entries of a cancelled crawl: %+v", turn.Unfetched)
		}
		w.ok(w.Record(w.Context(), turn))
		if hosts, next, err := w.ClaimHosts(w.Context(), w.me, 10, 0); err != nil || len(hosts) > 0 || !next.IsZero() {
			t.Errorf("got due host %v, %v, %v", hosts, next, err)
		}
	})
}

// TestRedirect checks that a redirect moves its entry to the target URL, unless the crawl already has that.
func TestRedirect(t *testing.T) {
	each(t, func(w *world) {
		w.job("http://a.example/", 0)
		e := w.begin()
		turn := w.turn()
		turn.Add(fetched(turn, w.Now(), "http://a.example/1", "http://a.example/2", "http://a.example/3"))
		w.ok(w.Record(w.Context(), turn))
		turn = w.turn()
		for _, to := range []string{"http://b.example/", "http://b.example/", "http://a.example/"} {
			turn.Add(crawl.Result{Entry: turn.Unfetched[0], Status: crawl.EntryPending, RedirectTo: to})
			turn.Unfetched = turn.Unfetched[1:]
		}
		w.ok(w.Record(w.Context(), turn))
		list, err := w.Frontier(w.Context(), crawl.EntryFilter{}, models.Cursor{}, 10)
		w.ok(err)
		var got []string
		for _, e := range list.Items {
			got = append(got, e.URL+" "+string(e.Status)+" "+e.LastError)
		}
		want := []string{
			"http://a.example/ done ", "http://b.example/ pending ",
			"http://a.example/2 done " + crawl.ReasonDuplicate, "http://a.example/3 done " + crawl.ReasonDuplicate,
		}
		if !slices.Equal(got, want) {
			t.Errorf("got frontier %q", got)
		}
		e, err = w.Execution(w.Context(), e.ID)
		w.ok(err)
		if e.Queued != 1 || e.Fetched != 3 {
			t.Errorf("got %d queued, %d fetched", e.Queued, e.Fetched)
		}
	})
}

// TestRedirectToItself checks that an entry whose redirect to itself sets a cookie is fetched again with it, although others
// redirect to it too. Its cookies are deleted when it is done.
func TestRedirectToItself(t *testing.T) {
	each(t, func(w *world) {
		const url, set = "http://a.example/", "http://a.example/ sid=1\n"
		w.job(url, 0)
		w.begin()
		turn := w.turn()
		turn.Add(fetched(turn, w.Now(), url+"1", url+"2"))
		w.ok(w.Record(w.Context(), turn))
		turn = w.turn()
		first, second := turn.Unfetched[0], turn.Unfetched[1]
		turn.Unfetched = nil
		turn.Add(crawl.Result{Entry: second, Status: crawl.EntryPending, RedirectTo: first.URL})
		turn.Add(crawl.Result{Entry: first, Status: crawl.EntryPending, RedirectTo: first.URL, Cookies: set})
		w.ok(w.Record(w.Context(), turn))
		turn = w.turn()
		if len(turn.Unfetched) != 1 || turn.Unfetched[0].URL != first.URL || turn.Unfetched[0].Cookies != set || turn.Unfetched[0].Redirects != 1 {
			t.Fatalf("got %+v", turn.Unfetched)
		}
		e := turn.Unfetched[0]
		turn.Unfetched = nil
		turn.Add(crawl.Result{Entry: e, Status: crawl.EntryPending, RedirectTo: url + "set", Cookies: set})
		w.ok(w.Record(w.Context(), turn))
		turn = w.turn()
		e, turn.Unfetched = turn.Unfetched[0], nil
		turn.Add(crawl.Result{Entry: e, Status: crawl.EntryPending, RedirectTo: first.URL, Cookies: set + set})
		w.ok(w.Record(w.Context(), turn))
		turn = w.turn()
		if len(turn.Unfetched) != 1 || turn.Unfetched[0].URL != first.URL || turn.Unfetched[0].Cookies != set+set || w.n("SELECT count(*) FROM frontier WHERE linked_as <> ''") != 0 {
			t.Fatalf("back from another URL: got %+v", turn.Unfetched)
		}
		turn.Add(fetched(turn, w.Now()))
		w.ok(w.Record(w.Context(), turn))
		if n := w.n("SELECT count(*) FROM frontier WHERE cookies <> ''"); n != 0 {
			t.Errorf("%d entries still have cookies", n)
		}
	})
}

// TestLostClaim checks that a batch whose claim was lost stores nothing.
func TestLostClaim(t *testing.T) {
	each(t, func(w *world) {
		w.job("http://a.example/", 0)
		e := w.begin()
		turn := w.turn()
		turn.Add(fetched(turn, w.Now(), "http://a.example/1"))
		w.ok(w.ReleaseOtherHosts(w.Context(), w.me, nil))
		w.clock.Advance(crawl.MaxClaimTime)
		again := w.turn()
		w.ok(w.Record(w.Context(), turn))
		if e, _ = w.Execution(w.Context(), e.ID); e.Fetched != 0 || e.Queued != 1 {
			t.Errorf("got %+v", e)
		}
		again.Add(fetched(again, w.Now()))
		w.ok(w.Record(w.Context(), again))
		if e, _ = w.Execution(w.Context(), e.ID); e.Fetched != 1 || e.Queued != 0 {
			t.Errorf("new claim: got %+v", e)
		}
	})
}

// TestStaleLocks checks that locks of dead instances and locks without progress are cleared, but not while the host demands
// a pause, nor right after it. Both continue their crawl, and only a run without progress uses up a retry.
func TestStaleLocks(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", 0)
		w.begin()
		cleared := func(want int) {
			t.Helper()
			if n, err := w.ClearStaleLocks(w.Context()); err != nil || n != want {
				t.Errorf("got %d cleared locks, want %d, error %v", n, want, err)
			}
		}
		cleared(0)
		turn := w.turn()
		turn.NextAt = w.Now().Add(2 * staleAfter)
		w.ok(w.Record(w.Context(), turn))
		w.clock.Advance(staleAfter + time.Second)
		cleared(0) // waits for its host
		w.clock.Advance(staleAfter)
		cleared(0) // its host can be requested since a second
		w.clock.Advance(staleAfter)
		cleared(1)
		if got := w.get(j); !got.WaitsForRetry() || got.CurrentRetryCount != 1 || got.LastError != "no progress" || got.CrawlSeq == nil {
			t.Errorf("got job %+v", got)
		}
		w.clock.Advance(time.Minute)
		w.begin()
		w.kill()
		cleared(1)
		if got := w.get(j); got.LastError != crawl.Interrupted || got.CurrentRetryCount != 1 || got.NextRunAt != w.Now() || got.CrawlSeq == nil {
			t.Errorf("got job %+v", got)
		}
		m, err := w.CollectMetrics(w.Context())
		w.ok(err)
		if m.StaleLocksCleared != 2 || m.Jobs[crawl.Scheduled] != 1 {
			t.Errorf("got metrics %+v", m)
		}
	})
}
