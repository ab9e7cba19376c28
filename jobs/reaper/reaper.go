// Package reaper implements the scheduled job that deletes expired data: rows of the
// kinds that each system registers. Nothing depends on when it runs: it only frees
// storage.
package reaper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/prometheus/client_golang/prometheus"

	"linkwatch/jobs"
	"linkwatch/models/cleanup"
)

// recordTime limits the recording of a run whose context has ended.
const recordTime = 5 * time.Second

// Options are the settings of the job.
type Options struct {
	Interval    time.Duration // between the starts of two runs (CLEANUP_INTERVAL)
	BatchSize   int           // the largest number of rows deleted in one transaction (CLEANUP_BATCH_SIZE)
	MaxDuration time.Duration // of one run (CLEANUP_MAX_DURATION)
	LongBatch   time.Duration // after a longer transaction the batch size is halved; 0 = never
}

// Reaper returns the job that deletes rows of each kind of the store. Kinds that are kept are skipped and have no
// statistics. A run deletes one batch of each kind in turn, each in its own transaction, until nothing is left. So
// a kind with millions of rows does not delay the others. No batch starts after MaxDuration. That is no failure:
// the next run continues. After each batch the reaper rests restFactor times as long as the batch took, which
// leaves at least four fifths of the time to other writers. If a kind fails, the run continues with the others,
// and the next run retries it.
//
// It returns an error if reg has a metric of its name.
func Reaper(store *cleanup.Store, opts Options, reg prometheus.Registerer) (jobs.Job, error) {
	rows := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "linkwatch_cleanup_rows_total", Help: "Total number of rows deleted by the reaper, by kind.",
	}, []string{"kind"})
	if err := reg.Register(rows); err != nil {
		return jobs.Job{}, fmt.Errorf("register reaper metrics: %w", err)
	}
	for _, kind := range store.Kinds() {
		if kind.Kept == "" {
			rows.WithLabelValues(kind.Kind) // so that the series exists with value 0
		}
	}
	r := &reaper{store, opts, rows}
	return jobs.Job{ID: cleanup.Job, Schedule: "@every " + opts.Interval.String(), Run: r.run}, nil
}

// next is the number of rows of the batch after one of limit rows. One row may have many dependent rows in other
// tables, and other writers wait until all are deleted.
func (o Options) next(limit int, took time.Duration) int {
	if o.LongBatch > 0 && took > o.LongBatch {
		return max(limit/2, 1)
	}
	return min(limit*2, o.BatchSize)
}

type reaper struct {
	store *cleanup.Store
	opts  Options
	rows  *prometheus.CounterVec
}

type task struct {
	cleanup.Run
	spec    cleanup.Kind
	limit   int // rows of the next batch
	started bool
	err     error
}

func (r *reaper) run(taking, working context.Context) (result string, err error) {
	inTime, cancel := context.WithTimeout(taking, r.opts.MaxDuration)
	defer cancel()
	var tasks []*task
	now := r.store.Now()
	for _, kind := range r.store.Kinds() {
		if kind.Kept == "" {
			tasks = append(tasks, &task{Run: cleanup.Run{StartedAt: now, Kind: kind.Kind}, spec: kind, limit: r.opts.BatchSize})
		}
	}
	left := slices.Clone(tasks)
	for len(left) > 0 && inTime.Err() == nil {
		t := left[0]
		left = left[1:]
		took, more := r.batch(working, t)
		if more {
			left = append(left, t)
		}
		if len(left) > 0 {
			rest(inTime, restFactor*took)
		}
	}
	err = r.finish(working, tasks)
	return summary(tasks, len(left) > 0, taking.Err() != nil), err
}

// batch deletes one batch of a kind. It returns how long that took and whether there may be more rows.
func (r *reaper) batch(ctx context.Context, t *task) (took time.Duration, more bool) {
	t.started = true
	start := time.Now()
	n, err := r.try(ctx, t)
	took = time.Since(start)
	t.limit = r.opts.next(t.limit, took)
	t.Duration += took
	t.Cleaned += n
	t.err = err
	r.rows.WithLabelValues(t.Kind).Add(float64(n))
	return took, err == nil && n > 0
}

// try deletes one batch. A panic becomes an error.
func (r *reaper) try(ctx context.Context, t *task) (n int64, err error) {
	defer func() {
		if p := recover(); p != nil {
			n, err = 0, fmt.Errorf("panic: %v", p)
		}
	}()
	return r.store.Batch(ctx, t.Kind, t.limit, t.spec.Remove)
}

// restFactor is the length of the rest after a batch, as a multiple of the batch's
// duration.
const restFactor = 4

// rest waits for d, or until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// finish records the results of a run, also if it was interrupted. The runner releases the job only afterward, so
// that a finished run always has its statistics.
func (r *reaper) finish(working context.Context, tasks []*task) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(working), recordTime)
	defer cancel()
	var errs []error
	for _, t := range tasks {
		if !t.started {
			continue
		}
		if t.err != nil {
			t.Error = t.err.Error()
		}
		errs = append(errs, t.err, r.store.Finish(ctx, t.Run))
	}
	return errors.Join(errs...)
}

// summary describes a run for the job's history: "1,000 old notes, 3 drafts".
func summary(tasks []*task, more, stopped bool) string {
	var parts []string
	for _, t := range tasks {
		if t.Cleaned > 0 {
			parts = append(parts, humanize.Comma(t.Cleaned)+" "+t.spec.Noun(t.Cleaned))
		}
	}
	text := strings.Join(parts, ", ")
	if text == "" {
		text = "nothing deleted"
	}
	switch {
	case more && stopped:
		text += "; interrupted"
	case more:
		text += "; time limit reached, the next run continues"
	}
	return text
}
