package crawl_test

import (
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/crawl"
)

// TestReapExecutionsBeyondTheNewest checks that executions beyond the newest 100 of a job are deleted with their frontier
// entries, which are otherwise kept for a day. Executions of other jobs stay.
func TestReapExecutionsBeyondTheNewest(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", 24*time.Hour)
		w.run(j, crawl.KeepExecutions)
		if n := w.reapAll(1000); n != 0 {
			t.Errorf("got %d deleted rows of the newest executions, want 0", n)
		}
		w.run(j, 3)
		other := w.job("http://b.example/", 24*time.Hour)
		w.run(other, 1)
		if n := w.reap(w.ReapExecutions, 1000); n != 0 {
			t.Errorf("got %d executions deleted before their entries, want 0", n)
		}
		for _, want := range []int64{2, 1, 0} {
			if n := w.reap(w.ReapFrontier, 2); n != want {
				t.Errorf("got %d deleted entries, want %d", n, want)
			}
		}
		for _, want := range []int64{1, 1, 1, 0} {
			if n := w.reap(w.ReapExecutions, 16); n != want {
				t.Errorf("got %d deleted executions, want %d", n, want)
			}
		}
		w.left(j, 4, crawl.KeepExecutions)
		w.left(other, 1, 1)

		w.clock.Advance(2 * crawl.KeepFrontier) // the entries are old enough
		w.reapAll(1000)
		if n := w.n("SELECT count(*) FROM frontier"); n != 0 {
			t.Errorf("got %d entries, want 0", n)
		}
		w.run(j, 2)
		w.reapAll(1000)
		w.left(j, 6, crawl.KeepExecutions)
		w.left(other, 1, 1)
	})
}

// TestReapOldExecutions checks that executions and their logs are deleted 30 days after their end, even among the newest. A
// running execution and a crawl to continue stay.
func TestReapOldExecutions(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", 24*time.Hour)
		w.run(j, 2)
		w.clock.Advance(crawl.KeepExecutionFor - time.Hour)
		w.run(j, 1)
		if w.reapAll(1000); w.n("SELECT count(*) FROM job_executions") != 3 {
			t.Error("executions were deleted before 30 days")
		}
		w.clock.Advance(time.Hour)
		w.reapAll(1000)
		w.left(j, 3, 1)
		if n := w.n("SELECT count(DISTINCT execution_seq) FROM job_logs"); n != 1 {
			t.Errorf("got logs of %d executions", n)
		}

		running := w.job("http://b.example/", 0)
		w.begin()
		paused := w.job("http://c.example/", 0)
		e := w.begin()
		w.ok(w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Release, Error: crawl.Interrupted}))
		w.clock.Advance(2 * crawl.KeepExecutionFor)
		w.reapAll(1000)
		w.left(j, 0, 0)
		w.left(running, 1, 1)
		w.left(paused, 1, 1)
		if n := w.n("SELECT count(*) FROM frontier WHERE status = 'pending'"); n != 2 {
			t.Errorf("got %d entries to fetch", n)
		}
	})
}

// run runs a job n times, one minute apart. Each crawl fetches its start page.
func (w *world) run(j crawl.Job, n int) {
	w.Helper()
	for range n {
		w.clock.Advance(time.Minute)
		_, err := w.Act(w.Context(), j.ID, crawl.ForceRun)
		w.ok(err)
		e, _, err := w.StartExecution(w.Context(), w.me, j.Seq)
		w.ok(err)
		w.crawlAll(func(string) []string { return nil })
		w.ok(w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Succeed}))
	}
}

// reap deletes one batch.
func (w *world) reap(remove func(*gorm.DB, int) (int64, error), limit int) (n int64) {
	w.Helper()
	w.ok(w.db.Write(w.Context(), func(tx *gorm.DB) (err error) { n, err = remove(tx, limit); return err }))
	return n
}

// reapAll deletes entries and executions until none is left to delete, and returns their number.
func (w *world) reapAll(limit int) (all int64) {
	w.Helper()
	for {
		n := w.reap(w.ReapFrontier, limit) + w.reap(w.ReapExecutions, limit)
		if all += n; n == 0 {
			return all
		}
	}
}

// left checks that a job has n executions with consecutive numbers from first.
func (w *world) left(j crawl.Job, first, n int) {
	w.Helper()
	l, err := w.Executions(w.Context(), j, models.Cursor{}, 500)
	w.ok(err)
	if len(l.Items) != n || n > 0 && l.Items[n-1].ExecutionNumber != first {
		w.Errorf("%d executions are left, want %d from number %d", len(l.Items), n, first)
	}
}
