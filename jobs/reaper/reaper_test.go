package reaper

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"linkwatch/models/cleanup"
	"linkwatch/models/modelstest"
)

func TestReaper_BufferTime(t *testing.T) {
	each(t, func(f fixture) {
		f.endedAt(1, f.cleanup.Now()) // CLEANUP_BUFFER_TIME is an hour
		f.clock.Advance(time.Hour - time.Microsecond)
		f.another().run("nothing deleted")
		f.clock.Advance(time.Microsecond)
		f.another().run("1 short link")
		if n := f.rows("short_links"); n != 0 {
			t.Errorf("%d are left", n)
		}
	})
}

// A short link that moves to the archive is counted once, and once more under its own kind when it is deleted.
func TestReaper_Archive(t *testing.T) {
	each(t, func(f fixture) {
		f.ended(25)
		f.run("25 short links")
		if got := f.of(shortLinks); got.Cleaned != 25 || got.LastBatchSize != 5 || f.rows("archived_short_links") != 25 || f.of(archivedLinks).Cleaned != 0 {
			t.Errorf("%+v, %d are archived", got, f.rows("archived_short_links"))
		}
		f.clock.Advance(24 * time.Hour)
		f.another().run("25 archived short links")
		if got := f.of(archivedLinks); got.Cleaned != 25 || f.of(shortLinks).Cleaned != 25 || f.rows("archived_short_links") != 0 {
			t.Errorf("%+v, %d are archived", got, f.rows("archived_short_links"))
		}
	})
}

// Each batch is a separate transaction and deletes at most the batch size.
func TestReaper_BatchSizeAndOneTransactionPerBatch(t *testing.T) {
	each(t, func(f fixture) {
		f.ended(25)
		var b batches
		f.watch(&b, shortLinks, nil)
		sent := modelstest.Statements(t, f.db)
		f.run("25 short links")
		if !slices.Equal(b.rows, []int64{10, 10, 5, 0}) || slices.ContainsFunc(b.limits, func(n int) bool { return n != 10 }) {
			t.Errorf("deleted %v with limits %v", b.rows, b.limits)
		}
		for i, tx := range b.tx {
			if slices.Index(b.tx, tx) != i {
				t.Errorf("batch %d is in the transaction of another one", i)
			}
		}
		selections := 0
		for _, s := range sent() {
			if !strings.Contains(s.SQL, " FROM short_links WHERE ") || !strings.Contains(s.SQL, "LIMIT") {
				continue
			}
			selections++
			if most, ok := s.Vars[len(s.Vars)-1].(int); !ok || most > 10 {
				t.Errorf("%s selects up to %v", s.SQL, s.Vars[len(s.Vars)-1])
			}
		}
		if selections < 4 {
			t.Errorf("%d selections were seen", selections)
		}
	})
}

// Kinds take turns: one of very many rows keeps no other from its batch.
func TestReaper_KindsTakeTurns(t *testing.T) {
	each(t, func(f fixture) {
		f.ended(25)
		f.keys(11)
		f = f.only(shortLinks, idempotencyKeys)
		var b batches
		f.watch(&b, shortLinks, nil)
		f.watch(&b, idempotencyKeys, nil)
		f.run("25 short links, 11 idempotency keys")
		const l, k = shortLinks + " ", idempotencyKeys + " "
		if got := b.String() + " "; got != l+k+l+k+l+k+l {
			t.Errorf("batches of %s", got)
		}
	})
}

// A deleted target goes after its history: in the same run, or in the next one if
// that takes more than a batch.
func TestReaper_DeletedTargets(t *testing.T) {
	each(t, func(f fixture) {
		f.deleted(3)
		f.run("3 check results, 1 target")
		f.deleted(15)
		f.another().run("15 check results")
		f.another().run("1 target")
		if n := f.rows("targets"); n != 0 {
			t.Errorf("%d targets are left", n)
		}
	})
}

// After the time limit no other batch starts, the run succeeds, and the next run continues there.
func TestReaper_TimeLimit(t *testing.T) {
	each(t, func(f fixture) {
		f.ended(25)
		f.keys(5)
		f.opts.MaxDuration = 200 * time.Millisecond
		f = f.only(shortLinks, idempotencyKeys)
		var b batches
		f.watch(&b, shortLinks, func() error { time.Sleep(f.opts.MaxDuration); return nil }) // as on a slow disk
		f.watch(&b, idempotencyKeys, nil)
		f.run("10 short links; time limit reached, the next run continues")
		if got := b.String(); got != shortLinks {
			t.Errorf("batches of %s", got)
		}
		if got := f.of(shortLinks); got.SuccessfulRuns != 1 || got.FailedRuns != 0 || got.Cleaned != 10 {
			t.Errorf("%+v", got)
		}
		if got := f.of(idempotencyKeys); got.SuccessfulRuns != 0 { // it had no turn
			t.Errorf("%+v", got)
		}
		f.another().run("15 short links, 5 idempotency keys")
	})
}

// Kinds that are not deleted have no statistics.
func TestReaper_KeptKinds(t *testing.T) {
	each(t, func(f fixture) {
		f.ended(3)
		f.keys(2)
		f = f.keeping(shortLinks)
		f.run("2 idempotency keys")
		if got := f.of(shortLinks); got != (cleanup.Totals{Kind: shortLinks}) || f.rows("short_links") != 3 {
			t.Errorf("%d are left, %+v", f.rows("short_links"), got)
		}
		if n := testutil.CollectAndCount(f.reg, "linkwatch_cleanup_rows_total"); n != len(f.kinds)-1 {
			t.Errorf("%d kinds have a metric", n)
		}
	})
}

func TestReaper_StatisticsTracking(t *testing.T) {
	each(t, func(f fixture) {
		f.ended(1012)
		f.keys(3)
		modelstest.Exec(t, f.db, "INSERT INTO tags (id, name, folded_name, link_count, created_at, last_used_at) VALUES ('g_x', 'x', 'x', 0, 1, 1)")
		f.opts.BatchSize = 1000
		began := f.cleanup.Now()
		f.run("1,012 short links, 1 tag, 3 idempotency keys")
		got := f.of(shortLinks)
		if got.Cleaned != 1012 || got.LastBatchSize != 12 || got.SuccessfulRuns != 1 || got.FailedRuns != 0 || got.LastRunAt != began || got.Duration <= 0 {
			t.Errorf("%+v", got)
		}
		for _, kind := range f.kinds {
			if got := f.of(kind.Kind); got.SuccessfulRuns != 1 || got.LastRunAt != began {
				t.Errorf("%+v", got)
			}
		}
		runs, err := f.cleanup.Runs(t.Context())
		if err != nil || len(runs) != len(f.kinds) {
			t.Fatalf("%+v, %v", runs, err)
		}
		for _, r := range runs {
			want := map[string]int64{shortLinks: 1012, idempotencyKeys: 3, tags: 1}[r.Kind]
			if r.Cleaned != want || r.StartedAt != began || r.Duration <= 0 || r.Error != "" {
				t.Errorf("%+v", r)
			}
		}
		err = testutil.GatherAndCompare(f.reg, strings.NewReader(`
# HELP linkwatch_cleanup_rows_total Total number of rows deleted by the reaper, by kind.
# TYPE linkwatch_cleanup_rows_total counter
linkwatch_cleanup_rows_total{kind="archived_short_links"} 0
linkwatch_cleanup_rows_total{kind="check_results"} 0
linkwatch_cleanup_rows_total{kind="idempotency_keys"} 3
linkwatch_cleanup_rows_total{kind="outages"} 0
linkwatch_cleanup_rows_total{kind="short_links"} 1012
linkwatch_cleanup_rows_total{kind="tags"} 1
linkwatch_cleanup_rows_total{kind="targets"} 0
linkwatch_cleanup_rows_total{kind="visit_days"} 0
`))
		if err != nil {
			t.Error(err)
		}
	})
}

func TestReaper_StatisticsSurviveARestart(t *testing.T) {
	each(t, func(f fixture) {
		for i := range 3 { // each time by a restarted program
			f.ended(12)
			f.another().run("12 short links")
			if got := f.of(shortLinks); got.Cleaned != int64(12*(i+1)) || got.SuccessfulRuns != int64(i+1) {
				t.Errorf("after run %d: %+v", i, got)
			}
			f.clock.Advance(time.Minute)
		}
	})
}

// Two reapers at once, as after a lost lease, delete each row once and count it once.
func TestReaper_TwoAtOnce(t *testing.T) {
	each(t, func(f fixture) {
		f.ended(400)
		f.keys(200)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				mine := f.another()
				mine.opts.BatchSize = 7
				if summary, err := mine.job().Run(t.Context(), t.Context()); err != nil {
					t.Errorf("%s: %v", summary, err)
				}
			})
		}
		wg.Wait()
		short, keys := f.of(shortLinks), f.of(idempotencyKeys)
		if short.Cleaned != 400 || keys.Cleaned != 200 || short.SuccessfulRuns != 2 || f.rows("short_links") != 0 || f.rows("idempotency_keys") != 0 {
			t.Errorf("%+v, %+v", short, keys)
		}
	})
}

// When the program stops in the middle of a run, the batch under way is
// finished, none begins, and what was done is recorded.
func TestReaper_GracefulShutdown(t *testing.T) {
	each(t, func(f fixture) {
		f.ended(25)
		var b batches
		taking, stop := context.WithCancel(t.Context())
		f = f.only(shortLinks)
		f.watch(&b, shortLinks, func() error {
			if b.len() == 2 {
				stop()
			}
			return nil
		})
		summary, err := f.job().Run(taking, t.Context())
		if err != nil || summary != "20 short links; interrupted" || b.len() != 2 {
			t.Errorf("%q, %v after %d batches", summary, err, b.len())
		}
		if got := f.of(shortLinks); got.Cleaned != 20 || got.SuccessfulRuns != 1 || f.rows("short_links") != 5 {
			t.Errorf("%d are left, %+v", f.rows("short_links"), got)
		}
		next := f.another()
		if summary, err := next.job().Run(taking, t.Context()); err != nil || summary != "nothing deleted; interrupted" {
			t.Errorf("a run that comes too late: %q, %v", summary, err)
		}
		if got := f.of(shortLinks); got.SuccessfulRuns != 1 {
			t.Errorf("a run that did nothing is counted: %+v", got)
		}
	})
}

// A batch that is given up, for the grace is over or the lease lost, leaves its
// rows, and the run is recorded as failed.
func TestReaper_GivenUp(t *testing.T) {
	each(t, func(f fixture) {
		f.ended(25)
		working, giveUp := context.WithCancel(t.Context())
		f = f.only(shortLinks)
		f.watch(new(batches), shortLinks, func() error { giveUp(); return nil })
		summary, err := f.job().Run(working, working)
		if !errors.Is(err, context.Canceled) || summary != "nothing deleted" {
			t.Errorf("%q, %v", summary, err)
		}
		if got := f.of(shortLinks); got.Cleaned != 0 || got.FailedRuns != 1 || f.rows("short_links") != 25 {
			t.Errorf("%d are left, %+v", f.rows("short_links"), got)
		}
	})
}

// A kind that fails keeps the others from nothing, and what it deleted before
// is counted.
func TestReaper_AFailingStore(t *testing.T) {
	each(t, func(f fixture) {
		f.ended(25)
		f.keys(15)
		broken := errors.New("broken")
		var b batches
		f.watch(&b, shortLinks, func() error {
			if b.len() > 1 {
				return broken
			}
			return nil
		})
		summary, err := f.job().Run(t.Context(), t.Context())
		if !errors.Is(err, broken) || summary != "10 short links, 15 idempotency keys" {
			t.Errorf("%q, %v", summary, err)
		}
		short, keys := f.of(shortLinks), f.of(idempotencyKeys)
		if short.FailedRuns != 1 || short.SuccessfulRuns != 0 || !short.LastRunAt.IsZero() || short.Cleaned != 10 || f.rows("short_links") != 15 {
			t.Errorf("%d are left, %+v", f.rows("short_links"), short)
		}
		if keys.SuccessfulRuns != 1 || keys.FailedRuns != 0 || keys.Cleaned != 15 {
			t.Errorf("%+v", keys)
		}
		runs, err := f.cleanup.Runs(t.Context())
		if i := slices.IndexFunc(runs, func(r cleanup.Run) bool { return r.Kind == shortLinks }); err != nil || i < 0 || !strings.Contains(runs[i].Error, "broken") {
			t.Errorf("%+v, %v", runs, err)
		}
		f.clock.Advance(time.Minute)
		f.another().run("15 short links")
	})
}

func TestReaper_ARecordThatCannotBeWritten(t *testing.T) {
	each(t, func(f fixture) {
		f.ended(3)
		modelstest.Exec(t, f.db, "DROP TABLE cleanup_runs")
		if summary, err := f.job().Run(t.Context(), t.Context()); err == nil || summary != "3 short links" {
			t.Errorf("%q, %v", summary, err)
		}
		if got := f.of(shortLinks); got.Cleaned != 3 || got.SuccessfulRuns != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// A panic is the failure of its kind alone.
func TestReaper_APanic(t *testing.T) {
	each(t, func(f fixture) {
		f.ended(5)
		f.keys(5)
		var b batches
		f.watch(&b, shortLinks, func() error { panic("broken") })
		summary, err := f.job().Run(t.Context(), t.Context())
		if err == nil || !strings.Contains(err.Error(), "panic: broken") || summary != "5 idempotency keys" {
			t.Errorf("%q, %v", summary, err)
		}
		if short := f.of(shortLinks); short.FailedRuns != 1 || f.rows("short_links") != 5 {
			t.Errorf("%d are left, %+v", f.rows("short_links"), short)
		}
	})
}

// Batches that take long are followed by smaller ones, and these by greater ones again.
func TestReaper_LongBatches(t *testing.T) {
	o := Options{BatchSize: 1000, LongBatch: 100 * time.Millisecond}
	var got []int
	limit := o.BatchSize
	for _, took := range []int64{1700, 800, 90, 120, 30, 30, 30} {
		limit = o.next(limit, time.Duration(took)*time.Millisecond)
		got = append(got, limit)
	}
	if !slices.Equal(got, []int{500, 250, 500, 250, 500, 1000, 1000}) || o.next(1, time.Second) != 1 {
		t.Errorf("%v", got)
	}
}

func TestReaper_Configuration(t *testing.T) {
	each(t, func(f fixture) {
		f.opts = Options{Interval: 90 * time.Second, BatchSize: 3, MaxDuration: time.Minute}
		f.ended(7)
		var b batches
		f.watch(&b, shortLinks, nil)
		job := f.job()
		if job.ID != "reaper" || job.Schedule != "@every 1m30s" {
			t.Errorf("the job %s runs %s", job.ID, job.Schedule)
		}
		if summary, err := job.Run(t.Context(), t.Context()); err != nil || summary != "7 short links" || !slices.Equal(b.rows, []int64{3, 3, 1, 0}) {
			t.Errorf("%q, %v in batches of %v", summary, err, b.rows)
		}
		if _, err := Reaper(f.store(), f.opts, f.reg); err == nil {
			t.Error("two reapers share the metrics of one program")
		}
	})
}
