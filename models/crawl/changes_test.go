package crawl_test

import (
	"testing"
	"time"

	"linkwatch/models/crawl"
)

// A reader is told once of each change of a job, of progress, and of the end of an
// execution.
func TestChanges(t *testing.T) {
	each(t, func(w *world) {
		changes := w.NewChanges()
		next := func(jobs, executions int) ([]crawl.Job, []crawl.Execution) {
			t.Helper()
			js, es, err := changes.Next(w.Context())
			if err != nil || len(js) != jobs || len(es) != executions {
				t.Fatalf("%d jobs and %d executions, want %d and %d: %v", len(js), len(es), jobs, executions, err)
			}
			return js, es
		}
		next(0, 0)
		w.clock.Advance(time.Second)
		w.job("http://a.example/", 0)
		js, _ := next(1, 0)
		if js[0].Status != crawl.Pending {
			t.Errorf("job %+v", js[0])
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
			t.Errorf("progress %+v", es[0])
		}
		next(0, 0)
		w.clock.Advance(10 * time.Second)
		w.ok(w.EndExecution(w.Context(), e, crawl.End{Event: crawl.Succeed}))
		if js, es := next(1, 1); js[0].Status != crawl.Completed || es[0].Status != crawl.ExecutionCompleted {
			t.Errorf("end %+v %+v", js, es)
		}
		next(0, 0)
	})
}
