package crawl_test

import (
	"testing"
	"time"

	"linkwatch/models/crawl"
)

// TestChanges checks that each change of a job, progress and the end of an execution are reported once.
func TestChanges(t *testing.T) {
	each(t, func(w *world) {
		changes := w.NewJobWatcher()
		next := func(jobs, executions int) ([]crawl.Job, []crawl.Execution) {
			t.Helper()
			js, es, err := changes.Next(w.Context())
			if err != nil || len(js) != jobs || len(es) != executions {
				t.Fatalf("got %d jobs and %d executions, want %d and %d, error %v", len(js), len(es), jobs, executions, err)
			}
			return js, es
		}
		next(0, 0)
		w.clock.Advance(time.Second)
		w.job("http://a.example/", 0)
		js, _ := next(1, 0)
		if js[0].Status != crawl.Pending {
			t.Errorf("got job %+v", js[0])
		}
		next(0, 0)
		w.clock.Advance(time.Second)
		e := w.begin()
		next(1, 1)
		w.clock.Advance(time.Second)
		turn := w.turn()
		turn.Add(fetched(turn, w.Now()))
		w.ok(w.Record(w.Context(), turn))
		if _, es := next(0, 1); es[0].ItemsCrawled != 1 || es[0].JobID == "" {
			t.Errorf("got progress %+v", es[0])
		}
		next(0, 0)
		w.clock.Advance(10 * time.Second)
		w.ok(w.EndExecution(w.Context(), e, crawl.ExecutionEnd{Event: crawl.Succeed}))
		if js, es := next(1, 1); js[0].Status != crawl.Completed || es[0].Status != crawl.ExecutionCompleted {
			t.Errorf("got end %+v, %+v", js, es)
		}
		next(0, 0)
	})
}

// TestChangesOfAShortExecution checks that the end of an execution that started after the previous call is reported once,
// and not again with a later change of its job.
func TestChangesOfAShortExecution(t *testing.T) {
	each(t, func(w *world) {
		early := w.job("http://early.example/", 24*time.Hour)
		w.run(early, 1)
		w.clock.Advance(time.Second)
		changes := w.NewJobWatcher()
		next := func(jobs int, executions ...int) {
			t.Helper()
			js, es, err := changes.Next(w.Context())
			if err != nil || len(js) != jobs || len(es) != len(executions) {
				t.Fatalf("got %d jobs and %d executions, want %d and %d, error %v", len(js), len(es), jobs, len(executions), err)
			}
			for i, e := range es {
				if e.Status != crawl.ExecutionCompleted || e.ExecutionNumber != executions[i] || e.JobID == "" {
					t.Errorf("got execution %+v", e)
				}
			}
		}
		next(0)
		w.clock.Advance(time.Second)
		j := w.job("http://a.example/", 24*time.Hour)
		w.run(j, 1)
		next(1, 1)
		for range 3 {
			next(0)
			w.clock.Advance(4 * time.Second)
			_, err := w.Act(w.Context(), j.ID, crawl.Pause)
			w.ok(err)
			_, err = w.Act(w.Context(), early.ID, crawl.Pause)
			w.ok(err)
			next(2)
			w.clock.Advance(time.Second)
			_, err = w.Act(w.Context(), j.ID, crawl.Resume)
			w.ok(err)
			_, err = w.Act(w.Context(), early.ID, crawl.Resume)
			w.ok(err)
			next(2)
		}
		w.run(j, 2)
		next(1, 3)
		next(0)
	})
}
