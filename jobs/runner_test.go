package jobs

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"linkwatch/models"
	"linkwatch/models/modelstest"
	"linkwatch/models/schedule"
)

// each runs a test on every engine and looks for goroutines that it left behind.
func each(t *testing.T, test func(t *testing.T, store *schedule.Store, clock *modelstest.Clock)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		defer goleak.VerifyNone(t, goleak.IgnoreCurrent(), goleak.IgnoreTopFunction("database/sql.(*DB).connectionCleaner"))
		clock := modelstest.NewClock()
		test(t, schedule.NewStore(db, clock.Now), clock)
	})
}

// newRunner is a runner whose jobs are declared, so that they can be requested.
func newRunner(t *testing.T, store *schedule.Store, jobs ...Job) *Runner {
	t.Helper()
	r, err := NewRunner(store, slog.New(slog.DiscardHandler), prometheus.NewPedanticRegistry(), jobs...)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Declare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// pass looks once for what is due.
func pass(t *testing.T, r *Runner, runs *sync.WaitGroup) time.Duration {
	t.Helper()
	wait, err := r.pass(t.Context(), t.Context(), runs)
	if err != nil {
		t.Fatal(err)
	}
	return wait
}

func only(t *testing.T, store *schedule.Store) schedule.Job {
	t.Helper()
	jobs, err := store.Jobs(t.Context())
	if err != nil || len(jobs) != 1 {
		t.Fatalf("jobs: %+v, %v", jobs, err)
	}
	return jobs[0]
}

func nothing(_, _ context.Context) (string, error) { return "nothing to do", nil }

func TestRunsOnSchedule(t *testing.T) {
	each(t, func(t *testing.T, store *schedule.Store, clock *modelstest.Clock) {
		r := newRunner(t, store, Job{"tidy", "@every 3s", nothing})
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
	store := schedule.NewStore(modelstest.New(t), nil)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ran := make(chan struct{}, 10)
	r, err := NewRunner(store, slog.New(slog.DiscardHandler), prometheus.NewRegistry(), Job{"tidy", "@every 1s", func(_, _ context.Context) (string, error) {
		ran <- struct{}{}
		return "", nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	r.Start()
	<-ran
	<-ran
	r.Stop(t.Context())
	if j := only(t, store); j.Runs < 2 || j.Failures != 0 || j.Running {
		t.Errorf("%+v", j)
	}
}

func TestOverlapIsSkippedAndCounted(t *testing.T) {
	each(t, func(t *testing.T, store *schedule.Store, clock *modelstest.Clock) {
		finish := make(chan struct{})
		slow := Job{"slow", "@every 10s", func(_, _ context.Context) (string, error) { <-finish; return "", nil }}
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
		if j := only(t, store); !j.Running || j.OverlapSkips != 2 || j.Runs != 0 {
			t.Errorf("while it ran: %+v", j)
		}
		close(finish)
		runs.Wait()
		clock.Advance(10 * time.Second)
		pass(t, two, &runs)
		runs.Wait()
		if j := only(t, store); j.Running || j.OverlapSkips != 2 || j.Runs != 2 || j.Successes != 2 {
			t.Errorf("afterwards: %+v", j)
		}
	})
}

func TestRunOfAKilledProcessIsTakenOver(t *testing.T) {
	each(t, func(t *testing.T, store *schedule.Store, clock *modelstest.Clock) {
		r := newRunner(t, store, Job{"hourly", "@every 1h", nothing})
		if err := store.Request(t.Context(), "hourly"); err != nil {
			t.Fatal(err)
		}
		if _, began, err := store.Begin(t.Context(), "hourly", r.table["hourly"].next); !began || err != nil {
			t.Fatal(began, err)
		} // and here the process dies
		var runs sync.WaitGroup
		pass(t, r, &runs)
		runs.Wait()
		if j := only(t, store); j.Runs != 0 || !j.Running {
			t.Errorf("while the lease holds: %+v", j)
		}
		clock.Advance(schedule.Lease)
		pass(t, r, &runs)
		runs.Wait()
		if j := only(t, store); j.Runs != 2 || j.Successes != 1 || j.Failures != 1 || j.Running || j.LastError != "" {
			t.Errorf("afterwards: %+v", j)
		}
	})
}

func TestRequestedRun(t *testing.T) {
	each(t, func(t *testing.T, store *schedule.Store, _ *modelstest.Clock) {
		ran := make(chan struct{})
		r := newRunner(t, store, Job{"rare", "@every 1000h", func(_, _ context.Context) (string, error) { close(ran); return "", nil }})
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

func TestFailures(t *testing.T) {
	for name, test := range map[string]struct {
		run  func(_, _ context.Context) (string, error)
		want string
	}{
		"error": {func(_, _ context.Context) (string, error) { return "half done", errors.New("no more paper") }, "no more paper"},
		"panic": {func(_, _ context.Context) (string, error) { panic("out of cheese") }, "panic: out of cheese"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, store *schedule.Store, clock *modelstest.Clock) {
				r := newRunner(t, store, Job{"bad", "@every 1s", test.run})
				var runs sync.WaitGroup
				clock.Advance(time.Second)
				pass(t, r, &runs)
				runs.Wait()
				if j := only(t, store); j.Failures != 1 || j.LastError != test.want || j.Running {
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
			each(t, func(t *testing.T, store *schedule.Store, _ *modelstest.Clock) {
				started, finish := make(chan struct{}), make(chan struct{})
				r := newRunner(t, store, Job{"long", "@every 1h", func(taking, ctx context.Context) (string, error) {
					close(started)
					<-taking.Done()
					select {
					case <-finish:
						return "", ctx.Err()
					case <-ctx.Done():
						return "", ctx.Err()
					}
				}})
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
				if j.Running || j.Runs != 1 || (j.Successes == 1) != inTime {
					t.Errorf("%+v", j)
				}
				if err := store.Request(t.Context(), "long"); err != nil {
					t.Error("the lease was not released:", err)
				}
			})
		})
	}
}

func TestLeaseIsRenewedUntilItIsLost(t *testing.T) {
	each(t, func(t *testing.T, store *schedule.Store, clock *modelstest.Clock) {
		r := newRunner(t, store, Job{"long", "@every 1s", nothing})
		clock.Advance(time.Second)
		next := r.table["long"].next
		run, began, err := store.Begin(t.Context(), "long", next)
		if !began || err != nil {
			t.Fatal(began, err)
		}
		hold := func() (ctx context.Context, cancel func(), beat chan time.Time, held chan struct{}) {
			ctx, cancel = context.WithCancel(t.Context())
			beat, held = make(chan time.Time), make(chan struct{})
			go func() {
				defer close(held)
				r.hold(ctx, cancel, run, beat)
			}()
			return ctx, cancel, beat, held
		}
		_, stop, beat, held := hold()
		clock.Advance(schedule.Lease / 2)
		beat <- time.Time{}
		beat <- time.Time{} // it is taken when the first has been answered
		stop()
		<-held
		clock.Advance(schedule.Lease - 1)
		if !only(t, store).Running {
			t.Error("the lease was not renewed")
		}
		clock.Advance(schedule.Lease) // the machine sleeps, and another instance takes over
		if _, began, err := store.Begin(t.Context(), "long", next); !began || err != nil {
			t.Fatal(began, err)
		}
		ctx, cancel, beat, held := hold()
		defer cancel()
		beat <- time.Time{}
		<-held
		if ctx.Err() == nil {
			t.Error("the run goes on without its lease")
		}
	})
}

func TestJobsOfANewerVersionAreLeftAlone(t *testing.T) {
	each(t, func(t *testing.T, store *schedule.Store, clock *modelstest.Clock) {
		old := newRunner(t, store, Job{"tidy", "@every 1s", nothing})
		newRunner(t, store, Job{"feeds", "@every 1s", nothing})
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
	tidy := Job{"tidy", "@every 1s", nothing}
	for want, jobs := range map[string][]Job{
		"schedule": {{"tidy", "now and then", nothing}},
		"twice":    {tidy, tidy},
	} {
		_, err := NewRunner(nil, nil, prometheus.NewRegistry(), jobs...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	reg := prometheus.NewRegistry()
	for i := range 2 {
		if _, err := NewRunner(nil, nil, reg, tidy); (err != nil) != (i == 1) {
			t.Errorf("runner %d on one registry: %v", i, err)
		}
	}
}
