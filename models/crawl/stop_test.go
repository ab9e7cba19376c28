package crawl_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// lastRun returns the newest execution of a job.
func (w *world) lastRun(j crawl.Job) crawl.Execution {
	w.Helper()
	e, ok, err := w.LastExecution(w.Context(), j)
	if w.ok(err); !ok {
		w.Fatal("the job has not run")
	}
	return e
}

// TestStopRun checks that stopping ends the run only: its execution is cancelled, with the name of who did it, its open entries are
// closed, and the job runs again as planned, from its start page.
func TestStopRun(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", 6*time.Hour)
		planned := j.NextRunAt
		w.clock.Advance(planned.Sub(w.Now().Time))
		w.begin()
		turn := w.turn()
		turn.Add(fetched(turn, w.Now(), "http://a.example/1"))
		w.ok(w.Record(w.Context(), turn))
		w.clock.Advance(time.Minute)
		got, err := w.Act(w.as("alice"), j.ID, crawl.Stop)
		w.ok(err)
		want := planned.Add(6 * time.Hour)
		if got.Status != crawl.Scheduled || got.NextRunAt != want || got.PlannedAt != want || got.LockToken != nil || got.CrawlSeq != nil || got.LastError != "" {
			t.Errorf("got %+v", got)
		}
		e := w.lastRun(j)
		if e.Status != crawl.ExecutionCancelled || e.CancelledBy != "alice" || e.ErrorMessage != "the run was stopped" || e.CompletedAt != w.Now() {
			t.Errorf("got %+v", e)
		}
		if running, err := w.StillRunning(w.Context(), map[int64]bool{e.Seq: true}); err != nil || len(running) != 0 {
			t.Errorf("got running executions %v, %v", running, err)
		}
		if err := w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Succeed}); !errors.Is(err, crawl.ErrLockLost) {
			t.Errorf("end of a stopped run: got %v", err)
		}
		if want := map[string]string{"/": "done", "/1": "failed"}; !maps.Equal(w.statuses(), want) {
			t.Errorf("got entries %v", w.statuses())
		}
		_, err = w.Act(w.Context(), j.ID, crawl.Stop)
		if models.CodeOf(err) != models.CodeConflict {
			t.Errorf("stopped twice: got %v", err)
		}
		if events := modelstest.Events(w.T, w.db); len(events) != 0 {
			t.Errorf("got events %q", events)
		}
		w.clock.Advance(want.Sub(w.Now().Time))
		if e := w.begin(); e.CrawlSeq != e.Seq || e.Queued != 1 || e.Metadata["continues"] != nil {
			t.Errorf("next run: got %+v", e)
		}
	})
}

// TestStopForcedRun checks that stopping a run that a user started, or a retry, keeps the planned run.
func TestStopForcedRun(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", 6*time.Hour)
		planned := j.NextRunAt
		_, err := w.Act(w.Context(), j.ID, crawl.ForceRun)
		w.ok(err)
		w.begin()
		got, err := w.Act(w.Context(), j.ID, crawl.Stop)
		w.ok(err)
		if got.NextRunAt != planned || got.Forced {
			t.Errorf("forced: got %+v", got)
		}
		w.clock.Advance(planned.Sub(w.Now().Time))
		w.runOnce("", time.Second)
		w.clock.Advance(time.Minute)
		w.begin()
		got, err = w.Act(w.Context(), j.ID, crawl.Stop)
		w.ok(err)
		if got.Status != crawl.Scheduled || got.NextRunAt != planned.Add(6*time.Hour) || got.CurrentRetryCount != 0 {
			t.Errorf("retry: got %+v", got)
		}
	})
}

// TestStopOneTimeJob checks that a stopped one-time job is completed, and that its failure is over.
func TestStopOneTimeJob(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", 0)
		_, err := w.EditJob(w.Context(), j.ID, crawl.JobEdit{MaxRetries: new(0)})
		w.ok(err)
		w.runOnce("", time.Second)
		_, err = w.Act(w.Context(), j.ID, crawl.Retry)
		w.ok(err)
		w.begin()
		got, err := w.Act(w.Context(), j.ID, crawl.Stop)
		w.ok(err)
		if got.Status != crawl.Completed || !got.NextRunAt.IsZero() || got.LastError != "" || got.LockToken != nil {
			t.Errorf("got %+v", got)
		}
		want := []string{"job.failed began Crawl of http://a.example/: broken", "job.failed closed Crawl of http://a.example/: broken"}
		if events := modelstest.Events(w.T, w.db); !slices.Equal(events, want) {
			t.Errorf("got events %q", events)
		}
		if seqs, _, err := w.DueJobs(w.Context(), 1); err != nil || len(seqs) != 0 {
			t.Errorf("got due jobs %v, %v", seqs, err)
		}
	})
}

// TestCancelledBy checks that a cancelled job names who cancelled its run.
func TestCancelledBy(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", 0)
		w.begin()
		_, err := w.Act(w.as("bob"), j.ID, crawl.Cancel)
		w.ok(err)
		if e := w.lastRun(j); e.CancelledBy != "bob" || e.ErrorMessage != "the job was cancelled" {
			t.Errorf("got %+v", e)
		}
	})
}

// TestRunAgain checks that a finished job is run again as a new job with the same source and settings, and stays as it is.
func TestRunAgain(t *testing.T) {
	each(t, func(w *world) {
		src, err := w.AddSource(w.Context(), crawl.NewSource{URL: "http://a.example/", Enabled: true})
		w.ok(err)
		for _, c := range []struct {
			want   crawl.Status
			every  int
			finish func(j crawl.Job)
		}{
			{crawl.Cancelled, 6, func(j crawl.Job) {
				_, err := w.Act(w.Context(), j.ID, crawl.Cancel)
				w.ok(err)
			}},
			{crawl.Failed, 6, func(j crawl.Job) {
				_, err := w.Act(w.Context(), j.ID, crawl.ForceRun)
				w.ok(err)
				w.runOnce("", time.Second)
			}},
			{crawl.Completed, 0, func(crawl.Job) { w.runOnce("h", time.Second) }},
		} {
			zero, backoff := 0, 7
			j, err := w.AddJob(w.Context(), crawl.NewJob{
				SourceID: src.ID, Name: "News", URL: "http://a.example/news", Interval: crawl.Interval{Count: c.every, Type: crawl.Hours}, MaxRetries: &zero, RetryBackoff: &backoff,
				RetryNextRun: true, Metadata: crawl.Metadata{"team": "web"},
			})
			w.ok(err)
			if _, err := w.RunAgain(w.Context(), j.ID); models.CodeOf(err) != models.CodeConflict || !strings.Contains(err.Error(), "cannot be run again") {
				t.Errorf("%s job: got %v", j.Status, err)
			}
			c.finish(j)
			made, err := w.RunAgain(w.Context(), j.ID)
			w.ok(err)
			old := w.get(j)
			if old.Status != c.want || !old.NextRun().IsZero() {
				t.Errorf("%s job: got %+v", c.want, old)
			}
			if made.ID == j.ID || made.SourceID != src.ID || made.Name != "News" || made.URL != j.URL || made.Interval() != j.Interval() || made.AdaptiveScheduling ||
				made.MaxRetries != 0 || made.RetryBackoffSeconds != 7 || !made.RetryNextRun || made.Metadata["team"] != "web" || made.NextRunAt != w.Now() {
				t.Errorf("%s job: got %+v", c.want, made)
			}
			if made.Recurring() && (made.Status != crawl.Scheduled || !made.PlannedAt.After(w.Now().Time)) {
				t.Errorf("%s job: got %+v", c.want, made)
			}
			w.ok(w.DeleteJob(w.Context(), made.ID))
		}
		if _, err := w.RunAgain(w.Context(), models.NewID(models.KindJob)); models.CodeOf(err) != models.CodeNotFound {
			t.Errorf("unknown job: got %v", err)
		}
	})
}
