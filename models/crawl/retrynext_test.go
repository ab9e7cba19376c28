package crawl_test

import (
	"slices"
	"testing"
	"time"

	"linkwatch/models/crawl"
	"linkwatch/models/modelstest"
)

// TestRetryNextRun checks that a recurring job whose retries have failed is retried at its next planned time, with all retries, and
// that its events count the failures. Without RetryNextRun it stays failed.
func TestRetryNextRun(t *testing.T) {
	each(t, func(w *world) {
		const every = 6 * time.Hour
		j := w.job("http://a.example/", every)
		one, on, off := 1, true, false
		j, err := w.EditJob(w.Context(), j.ID, crawl.JobEdit{MaxRetries: &one, RetryNextRun: &on})
		w.ok(err)
		planned := j.PlannedAt
		fail := func() {
			w.Helper()
			w.runOnce("", time.Second)
			if got := w.get(j); !got.WaitsForRetry() || got.CurrentRetryCount != 1 {
				t.Errorf("got %+v", got)
			}
			w.clock.Advance(time.Minute)
			w.runOnce("", time.Second)
		}
		for n := 1; n <= 3; n++ {
			w.clock.Advance(planned.Sub(w.Now().Time))
			w.ok(w.RetryFailed(w.Context()))
			fail()
			planned = planned.Add(every)
			got := w.get(j)
			if got.Status != crawl.Failed || got.NextRun() != planned || got.ConsecutiveFailures != n || !got.Planned() || got.Over() {
				t.Errorf("failure %d: got %+v, want a run at %v", n, got, planned)
			}
			w.ok(w.RetryFailed(w.Context()))
			if seqs, _, err := w.DueJobs(w.Context(), 1); err != nil || len(seqs) != 0 {
				t.Errorf("failure %d: got due jobs %v, %v", n, seqs, err)
			}
		}
		want := []string{
			"job.failed began Crawl of http://a.example/: broken",
			"job.failed began Crawl of http://a.example/: broken (failed 2 times in a row)",
			"job.failed began Crawl of http://a.example/: broken (failed 3 times in a row)",
		}
		if got := modelstest.Events(w.T, w.db); !slices.Equal(got, want) {
			t.Errorf("got events %q", got)
		}
		w.clock.Advance(planned.Sub(w.Now().Time))
		w.ok(w.RetryFailed(w.Context()))
		if got := w.get(j); got.Status != crawl.Pending || got.NextRunAt != planned || got.CurrentRetryCount != 0 {
			t.Errorf("retried by the scheduler: got %+v", got)
		}
		w.runOnce("a", time.Second)
		if got := w.get(j); got.Status != crawl.Scheduled || got.ConsecutiveFailures != 0 || got.NextRunAt != planned.Add(every) {
			t.Errorf("completed: got %+v", got)
		}
		if got := modelstest.Events(w.T, w.db); !slices.Equal(got, []string{"job.failed ended Crawl of http://a.example/"}) {
			t.Errorf("got events %q", got)
		}

		// Turned off, the job stays failed. Turned on again, it is planned in phase.
		w.clock.Advance(every)
		fail()
		got, err := w.EditJob(w.Context(), j.ID, crawl.JobEdit{RetryNextRun: &off})
		if w.ok(err); got.Status != crawl.Failed || !got.NextRun().IsZero() || !got.Over() {
			t.Errorf("turned off: got %+v", got)
		}
		w.clock.Advance(2 * every)
		w.ok(w.RetryFailed(w.Context()))
		if seqs, _, err := w.DueJobs(w.Context(), 1); err != nil || len(seqs) != 0 {
			t.Errorf("got due jobs %v, %v", seqs, err)
		}
		got, err = w.EditJob(w.Context(), j.ID, crawl.JobEdit{RetryNextRun: &on})
		if w.ok(err); !got.NextRun().After(w.Now().Time) || got.NextRun().Sub(planned.Time)%every != 0 || got.NextRun().Sub(w.Now().Time) > every {
			t.Errorf("turned on: got %+v", got)
		}
		// A manual retry comes first and keeps the plan.
		got, err = w.Act(w.Context(), j.ID, crawl.Retry)
		if w.ok(err); got.Status != crawl.Pending || got.NextRunAt != w.Now() {
			t.Errorf("retried: got %+v", got)
		}
		next := got.PlannedAt
		w.runOnce("b", time.Second)
		if got := w.get(j); got.NextRunAt != next {
			t.Errorf("retried: got next run at %v, want %v", got.NextRunAt, next)
		}
		// A one-time job is not retried.
		modelstest.Events(w.T, w.db)
		once, err := w.AddJob(w.Context(), crawl.NewJob{URL: "http://b.example/", RetryNextRun: true, MaxRetries: new(0)})
		w.ok(err)
		w.runOnce("", time.Second)
		if got := w.get(once); got.Status != crawl.Failed || !got.Over() {
			t.Errorf("one-time job: got %+v", got)
		}
	})
}

// TestRetryOfDisabledSource checks that a failed job whose source is disabled is not retried, and that the runs it missed are
// skipped when the source is enabled.
func TestRetryOfDisabledSource(t *testing.T) {
	each(t, func(w *world) {
		off, on := false, true
		j := w.job("http://a.example/", 6*time.Hour)
		_, err := w.EditJob(w.Context(), j.ID, crawl.JobEdit{MaxRetries: new(0), RetryNextRun: &on})
		w.ok(err)
		w.clock.Advance(j.NextRunAt.Sub(w.Now().Time))
		w.runOnce("", time.Second)
		_, err = w.EditSource(w.Context(), j.SourceID, crawl.SourceEdit{Enabled: &off})
		w.ok(err)
		w.clock.Advance(20 * time.Hour)
		w.ok(w.RetryFailed(w.Context()))
		if seqs, _, err := w.DueJobs(w.Context(), 1); err != nil || len(seqs) != 0 {
			t.Errorf("got due jobs %v, %v", seqs, err)
		}
		_, err = w.EditSource(w.Context(), j.SourceID, crawl.SourceEdit{Enabled: &on})
		w.ok(err)
		if got := w.get(j); got.Status != crawl.Failed || got.NextRun() != j.NextRunAt.Add(24*time.Hour) {
			t.Errorf("got %+v", got)
		}
	})
}

// TestResumeKeepsThePlannedTime checks that a resumed job runs at its planned time if that is ahead. If it has passed, or the
// interval has changed, another time is planned.
func TestResumeKeepsThePlannedTime(t *testing.T) {
	each(t, func(w *world) {
		j := w.job("http://a.example/", 24*time.Hour)
		planned := j.NextRunAt
		_, err := w.PreviewRebalance(w.Context())
		w.ok(err)
		act := func(e crawl.Event) crawl.Job {
			w.Helper()
			got, err := w.Act(w.Context(), j.ID, e)
			w.ok(err)
			return got
		}
		for name, pause := range map[string]func() crawl.Job{
			"by an action": func() crawl.Job { return act(crawl.Pause) },
			"by an edit": func() crawl.Job {
				got, err := w.EditJob(w.Context(), j.ID, crawl.JobEdit{Paused: new(true)})
				w.ok(err)
				return got
			},
			"forced": func() crawl.Job { act(crawl.ForceRun); return act(crawl.Pause) },
		} {
			if got := pause(); got.Status != crawl.Paused || !got.NextRunAt.IsZero() || got.PausedAt.IsZero() {
				t.Errorf("%s: got %+v", name, got)
			}
			w.clock.Advance(time.Minute)
			if got := act(crawl.Resume); got.Status != crawl.Scheduled || got.NextRunAt != planned || got.PlannedAt != planned || !got.PausedAt.IsZero() || got.Forced {
				t.Errorf("%s: got %+v, want a run at %v", name, got, planned)
			}
		}
		act(crawl.Pause)
		got, err := w.EditJob(w.Context(), j.ID, crawl.JobEdit{Paused: new(false)})
		if w.ok(err); got.NextRunAt != planned || got.Status != crawl.Scheduled {
			t.Errorf("resumed by an edit: got %+v", got)
		}
		act(crawl.Pause)
		_, err = w.EditJob(w.Context(), j.ID, crawl.JobEdit{Interval: &crawl.Interval{Count: 1, Type: crawl.Hours}})
		w.ok(err)
		got = act(crawl.Resume)
		if got.NextRunAt.Sub(w.Now().Time) > time.Hour {
			t.Errorf("with a shorter interval: got a run at %v", got.NextRunAt)
		}
		act(crawl.Pause)
		w.clock.Advance(100 * time.Hour)
		if got = act(crawl.Resume); !got.NextRunAt.After(w.Now().Time) || got.NextRunAt.Sub(w.Now().Time) > time.Hour {
			t.Errorf("after its planned time: got a run at %v", got.NextRunAt)
		}
	})
}
