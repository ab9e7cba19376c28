package jobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/modelstest"
	"linkwatch/models/schedule"
)

type testStore struct {
	*schedule.Store
	db *models.DB
}

// each runs a test on every engine. It may leave no goroutine running.
func each(t *testing.T, test func(t *testing.T, store testStore, clock *modelstest.Clock)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		modelstest.NoLeaks(t)
		clock := modelstest.NewClock()
		test(t, testStore{schedule.NewStore(db, clock.Now), db}, clock)
	})
}

// newRunner is a runner whose jobs are declared, so that they can be requested.
func newRunner(t *testing.T, store testStore, jobs ...Job) *Runner {
	t.Helper()
	r, err := NewRunner(store.Store, lease.New(store.db, nil), slog.New(slog.DiscardHandler), prometheus.NewPedanticRegistry(), jobs...)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Declare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// beat renews the lease of a runner.
func beat(t *testing.T, r *Runner) {
	t.Helper()
	if err := r.lease.Beat(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// pass looks once for what is due.
func pass(t *testing.T, r *Runner, runs *sync.WaitGroup) time.Duration {
	t.Helper()
	beat(t, r)
	wait, err := r.pass(t.Context(), t.Context(), t.Context(), runs)
	if err != nil {
		t.Fatal(err)
	}
	return wait
}

func only(t *testing.T, store testStore) schedule.Job {
	t.Helper()
	jobs, err := store.Jobs(t.Context())
	if err != nil || len(jobs) != 1 {
		t.Fatalf("jobs: %+v, %v", jobs, err)
	}
	return jobs[0]
}

func nothing(_, _ context.Context) (string, error) { return "nothing to do", nil }

func TestRunsOnSchedule(t *testing.T) {
	each(t, func(t *testing.T, store testStore, clock *modelstest.Clock) {
		r := newRunner(t, store, Job{ID: "tidy", Schedule: "@every 3s", Run: nothing})
		var runs sync.WaitGroup
		if wait := pass(t, r, &runs); wait != 3*time.Second {
			t.Errorf("first look: wait %v", wait)
		}
		for range 2 {
			clock.Advance(3 * time.Second)
			if wait := pass(t, r, &runs); wait != 3*time.Second {
				t.Errorf("wait %v", wait)
			}
			pass(t, r, &runs) // it is not due twice
			runs.Wait()
		}
		if j := only(t, store); j.Runs != 2 || j.Successes != 2 || j.OverlapSkips != 0 || j.NextRunAt != store.Now().Add(3*time.Second) {
			t.Errorf("%+v", j)
		}
		if n := testutil.ToFloat64(r.metrics.runs.WithLabelValues("tidy", "success")); n != 2 {
			t.Errorf("%v successes in the metrics", n)
		}
		history, err := store.Runs(t.Context(), "tidy", models.Cursor{}, 10)
		if err != nil || len(history.Items) != 2 || history.Items[0].Summary != "nothing to do" || history.Items[0].Trigger != schedule.BySchedule {
			t.Errorf("history: %+v, %v", history, err)
		}
	})
}

func TestRealTime(t *testing.T) {
	db := modelstest.New(t)
	store := testStore{schedule.NewStore(db, nil), db}
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ran := make(chan struct{}, 10)
	r, err := NewRunner(store.Store, lease.New(db, nil), slog.New(slog.DiscardHandler), prometheus.NewRegistry(), Job{ID: "tidy", Schedule: "@every 1s", Run: func(_, _ context.Context) (string, error) {
		ran <- struct{}{}
		return "", nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	beat(t, r)
	r.Start()
	<-ran
	<-ran
	r.Stop(t.Context())
	if j := only(t, store); j.Runs < 2 || j.Failures != 0 || j.Running() {
		t.Errorf("%+v", j)
	}
}

func TestOverlapIsSkippedAndCounted(t *testing.T) {
	each(t, func(t *testing.T, store testStore, clock *modelstest.Clock) {
		finish := make(chan struct{})
		slow := Job{ID: "slow", Schedule: "@every 10s", Run: func(_, _ context.Context) (string, error) { <-finish; return "", nil }}
		one, two := newRunner(t, store, slow), newRunner(t, store, slow) // two instances
		var runs sync.WaitGroup
		clock.Advance(10 * time.Second)
		pass(t, one, &runs)
		for _, r := range []*Runner{one, two} {
			clock.Advance(10 * time.Second)
			pass(t, r, &runs)
			pass(t, two, &runs) // each due time counts once
			if n := testutil.ToFloat64(r.metrics.skips.WithLabelValues("slow")); n != 1 {
				t.Errorf("%v skips in the metrics", n)
			}
		}
		if n := testutil.ToFloat64(one.metrics.running.WithLabelValues("slow")); n != 1 {
			t.Errorf("running gauge: %v", n)
		}
		if j := only(t, store); !j.Running() || j.OverlapSkips != 2 || j.Runs != 1 {
			t.Errorf("while it ran: %+v", j)
		}
		close(finish)
		runs.Wait()
		clock.Advance(10 * time.Second)
		pass(t, two, &runs)
		runs.Wait()
		if j := only(t, store); j.Running() || j.OverlapSkips != 2 || j.Runs != 2 || j.Successes != 2 {
			t.Errorf("afterwards: %+v", j)
		}
	})
}

func TestRunOfAKilledProcessIsTakenOver(t *testing.T) {
	each(t, func(t *testing.T, store testStore, _ *modelstest.Clock) {
		r := newRunner(t, store, Job{ID: "hourly", Schedule: "@every 1h", Run: nothing})
		if err := store.Request(t.Context(), "hourly"); err != nil {
			t.Fatal(err)
		}
		killed := modelstest.Lease(t, store.db, "k_killed")
		if _, began, err := store.Begin(t.Context(), killed, "hourly", r.table["hourly"].next); !began || err != nil {
			t.Fatal(began, err)
		} // and here the process dies
		var runs sync.WaitGroup
		pass(t, r, &runs)
		runs.Wait()
		if j := only(t, store); j.Runs != 1 || !j.Running() {
			t.Errorf("while the lease holds: %+v", j)
		}
		for range 4 {
			beat(t, r)
		}
		pass(t, r, &runs)
		runs.Wait()
		if j := only(t, store); j.Runs != 2 || j.Successes != 1 || j.Failures != 1 || j.Running() || j.LastError != "" {
			t.Errorf("afterwards: %+v", j)
		}
	})
}

func TestRequestedRun(t *testing.T) {
	each(t, func(t *testing.T, store testStore, _ *modelstest.Clock) {
		ran := make(chan struct{})
		r := newRunner(t, store, Job{ID: "rare", Schedule: "@every 1000h", Run: func(_, _ context.Context) (string, error) { close(ran); return "", nil }})
		beat(t, r)
		r.Start()
		if err := store.Request(t.Context(), "rare"); err != nil {
			t.Fatal(err)
		}
		<-ran
		r.Stop(t.Context())
		if j := only(t, store); j.Runs != 1 || !j.RequestedAt.IsZero() {
			t.Errorf("%+v", j)
		}
	})
}

// A job that is overdue when the program starts is run at once; its next run is as scheduled.
func TestOverdueJobIsAskedForAtTheStart(t *testing.T) {
	each(t, func(t *testing.T, store testStore, _ *modelstest.Clock) {
		for _, overdue := range []bool{false, true} {
			r := newRunner(t, store, Job{ID: "backup", Schedule: "@every 1h", Run: nothing, Overdue: func() bool { return overdue }})
			before := only(t, store).NextRunAt
			var runs sync.WaitGroup
			pass(t, r, &runs)
			runs.Wait()
			if job := only(t, store); (job.Runs == 1) != overdue || !job.NextRunAt.Equal(before.Time) {
				t.Errorf("overdue %v: %d runs, the next at %s, want %s", overdue, job.Runs, job.NextRunAt, before)
			}
			history, err := store.Runs(t.Context(), "backup", models.Cursor{}, 10)
			if err != nil || overdue && (len(history.Items) != 1 || history.Items[0].Trigger != schedule.AtStart) {
				t.Errorf("history: %+v, %v", history, err)
			}
		}
	})
}

func TestFailures(t *testing.T) {
	for name, test := range map[string]struct {
		run  func(_, _ context.Context) (string, error)
		want string
	}{
		"error": {func(_, _ context.Context) (string, error) { return "half done", errors.New("no more paper") }, "no more paper"},
		"panic": {func(_, _ context.Context) (string, error) { panic("out of cheese") }, "panic: out of cheese"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, store testStore, clock *modelstest.Clock) {
				r := newRunner(t, store, Job{ID: "bad", Schedule: "@every 1s", Run: test.run})
				var runs sync.WaitGroup
				clock.Advance(time.Second)
				pass(t, r, &runs)
				runs.Wait()
				if j := only(t, store); j.Failures != 1 || j.LastError != test.want || j.Running() {
					t.Errorf("%+v", j)
				}
				if n := testutil.ToFloat64(r.metrics.runs.WithLabelValues("bad", "failure")); n != 1 {
					t.Errorf("%v failures in the metrics", n)
				}
			})
		})
	}
}

func TestStopLetsAJobFinishOrGivesItUp(t *testing.T) {
	for name, inTime := range map[string]bool{"finishes": true, "is given up": false} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, store testStore, _ *modelstest.Clock) {
				started, finish := make(chan struct{}), make(chan struct{})
				r := newRunner(t, store, Job{ID: "long", Schedule: "@every 1h", Run: func(taking, ctx context.Context) (string, error) {
					close(started)
					<-taking.Done()
					select {
					case <-finish:
						return "", ctx.Err()
					case <-ctx.Done():
						return "", ctx.Err()
					}
				}})
				beat(t, r)
				r.Start()
				if err := store.Request(t.Context(), "long"); err != nil {
					t.Fatal(err)
				}
				<-started
				grace, cancel := context.WithCancel(t.Context())
				defer cancel()
				stopped := make(chan struct{})
				go func() {
					defer close(stopped)
					r.Stop(grace)
				}()
				if inTime {
					close(finish)
				} else {
					cancel()
				}
				<-stopped
				j := only(t, store)
				if j.Running() || j.LastError != "" || j.Runs != 1 || (j.Successes == 1) != inTime || j.RequestedAt.IsZero() != inTime {
					t.Errorf("%+v", j)
				}
				if err := store.Request(t.Context(), "long"); err != nil {
					t.Error("the job was not freed:", err)
				}
			})
		})
	}
}

// A run that the end of the program interrupts is no failure. The job is due again after the restart.
func TestInterruptedRunIsDueAfterTheRestart(t *testing.T) {
	each(t, func(t *testing.T, store testStore, clock *modelstest.Clock) {
		started := make(chan struct{})
		r := newRunner(t, store, Job{ID: "backup", Schedule: "@every 1h", Run: func(taking, _ context.Context) (string, error) {
			close(started)
			<-taking.Done()
			return "", fmt.Errorf("copying: %w", taking.Err())
		}})
		clock.Advance(time.Hour)
		beat(t, r)
		r.Start()
		<-started
		r.Stop(t.Context())
		if j := only(t, store); j.Running() || j.Runs != 1 || j.Successes+j.Failures != 0 || j.LastError != "" || !j.LastStartedAt.IsZero() || j.NextRunAt.After(clock.Now()) {
			t.Errorf("after the stop: %+v", j)
		}
		if got := modelstest.Events(t, store.db); len(got) > 0 {
			t.Errorf("events: %q", got)
		}
		if n := testutil.ToFloat64(r.metrics.runs.WithLabelValues("backup", "failure")); n != 0 {
			t.Errorf("%v failures in the metrics", n)
		}
		again := newRunner(t, store, Job{ID: "backup", Schedule: "@every 1h", Run: nothing})
		var runs sync.WaitGroup
		pass(t, again, &runs)
		runs.Wait()
		if j := only(t, store); j.Runs != 2 || j.Successes != 1 || j.NextRunAt != store.Now().Add(time.Hour) {
			t.Errorf("after the restart: %+v", j)
		}
	})
}

// The log names the unit of a run's duration.
func TestRunsAreLoggedWithTheirDuration(t *testing.T) {
	db := modelstest.New(t)
	clock := modelstest.NewClock()
	store := testStore{schedule.NewStore(db, clock.Now), db}
	r := newRunner(t, store, Job{ID: "tidy", Schedule: "@every 1s", Run: nothing}, Job{ID: "bad", Schedule: "@every 1s", Run: func(_, _ context.Context) (string, error) { return "", errors.New("no") }})
	var lines bytes.Buffer
	r.log = slog.New(slog.NewJSONHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
	clock.Advance(time.Second)
	var runs sync.WaitGroup
	pass(t, r, &runs)
	runs.Wait()
	if n := strings.Count(lines.String(), `"took_us":`); n != 2 || strings.Contains(lines.String(), `"duration"`) {
		t.Errorf("%s", lines.String())
	}
}

// The metrics say whether the last run of a job failed, also after a restart.
func TestMetricsOfTheLastRun(t *testing.T) {
	each(t, func(t *testing.T, store testStore, clock *modelstest.Clock) {
		var problem error
		job := Job{ID: "backup", Schedule: "@every 1h", Run: func(_, _ context.Context) (string, error) { return "", problem }}
		r := newRunner(t, store, job)
		if n := testutil.CollectAndCount(r.metrics.failed); n != 1 {
			t.Errorf("%d series before the first run", n)
		}
		for _, problem = range []error{errors.New("no disk"), nil} {
			var runs sync.WaitGroup
			clock.Advance(time.Hour)
			pass(t, r, &runs)
			runs.Wait()
			for _, r := range []*Runner{r, newRunner(t, store, job)} {
				pass(t, r, &runs)
				if got := testutil.ToFloat64(r.metrics.failed.WithLabelValues("backup")) == 1; got != (problem != nil) {
					t.Errorf("after %v: failed %v", problem, got)
				}
			}
		}
	})
}

// A run ends when its instance loses the lease, and leaves no record then.
func TestRunIsGivenUpWithTheLease(t *testing.T) {
	each(t, func(t *testing.T, store testStore, clock *modelstest.Clock) {
		started := make(chan struct{})
		r := newRunner(t, store, Job{ID: "long", Schedule: "@every 1s", Run: func(_, working context.Context) (string, error) {
			close(started)
			<-working.Done()
			return "", working.Err()
		}})
		clock.Advance(time.Second)
		var runs sync.WaitGroup
		pass(t, r, &runs)
		<-started
		modelstest.Exec(t, store.db, "DELETE FROM instances")
		beat(t, r) // it learns that another instance has ended its lease
		runs.Wait()
		if j := only(t, store); j.Running() || j.Runs != 1 || j.Successes+j.Failures != 0 {
			t.Errorf("%+v", j)
		}
	})
}

// Nothing begins without a lease.
func TestNoRunWithoutALease(t *testing.T) {
	each(t, func(t *testing.T, store testStore, clock *modelstest.Clock) {
		r := newRunner(t, store, Job{ID: "tidy", Schedule: "@every 1s", Run: nothing})
		clock.Advance(time.Second)
		var runs sync.WaitGroup
		if _, err := r.pass(t.Context(), t.Context(), t.Context(), &runs); err != nil {
			t.Fatal(err)
		}
		runs.Wait()
		if j := only(t, store); j.Runs != 0 || j.LastStartedAt != (models.Time{}) {
			t.Errorf("%+v", j)
		}
	})
}

func TestJobsOfANewerVersionAreLeftAlone(t *testing.T) {
	each(t, func(t *testing.T, store testStore, clock *modelstest.Clock) {
		old := newRunner(t, store, Job{ID: "tidy", Schedule: "@every 1s", Run: nothing})
		newRunner(t, store, Job{ID: "feeds", Schedule: "@every 1s", Run: nothing})
		clock.Advance(time.Second)
		var runs sync.WaitGroup
		pass(t, old, &runs)
		runs.Wait()
		if j := only(t, store); j.ID != "feeds" || j.Runs != 0 {
			t.Errorf("%+v", j)
		}
	})
}

func TestNewRunnerRefuses(t *testing.T) {
	tidy := Job{ID: "tidy", Schedule: "@every 1s", Run: nothing}
	for want, jobs := range map[string][]Job{
		"schedule": {{ID: "tidy", Schedule: "now and then", Run: nothing}},
		"twice":    {tidy, tidy},
	} {
		_, err := NewRunner(nil, nil, nil, prometheus.NewRegistry(), jobs...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	reg := prometheus.NewRegistry()
	for i := range 2 {
		if _, err := NewRunner(nil, nil, nil, reg, tidy); (err != nil) != (i == 1) {
			t.Errorf("runner %d on one registry: %v", i, err)
		}
	}
}

// A job does not stay running if the start or end of a run was not stored. The instance
// that holds its claim releases it.
func TestJobThatNothingRunsIsFreed(t *testing.T) {
	each(t, func(t *testing.T, store testStore, clock *modelstest.Clock) {
		var fail bool
		r := newRunner(t, store, Job{ID: "tidy", Schedule: "@every 1s", Run: func(_, _ context.Context) (string, error) {
			if fail {
				modelstest.Exec(t, store.db, "ALTER TABLE job_runs RENAME TO elsewhere") // which only recording a run needs
			}
			return "", nil
		}})
		var runs sync.WaitGroup
		fail = true
		clock.Advance(time.Second)
		pass(t, r, &runs)
		runs.Wait()
		if j := only(t, store); !j.Running() || j.Runs != 1 {
			t.Fatalf("its end was stored: %+v", j)
		}
		fail = false
		modelstest.Exec(t, store.db, "ALTER TABLE elsewhere RENAME TO job_runs")
		clock.Advance(time.Second)
		pass(t, r, &runs)
		runs.Wait()
		if j := only(t, store); j.Running() || j.Runs != 2 || j.Successes != 1 || j.Failures != 1 || j.OverlapSkips != 0 {
			t.Errorf("after an end that was not stored: %+v", j)
		}

		clock.Advance(time.Second)
		holder, _, _ := r.lease.Current()
		if _, began, err := store.Begin(t.Context(), holder, "tidy", r.table["tidy"].next); !began || err != nil {
			t.Fatal(began, err)
		} // and the answer to its COMMIT is lost
		clock.Advance(time.Second)
		pass(t, r, &runs)
		runs.Wait()
		if j := only(t, store); j.Running() || j.Successes != 2 || j.Failures != 2 {
			t.Errorf("after a beginning whose COMMIT was not confirmed: %+v", j)
		}
	})
}
