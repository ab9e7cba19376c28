// Package reaper is the scheduled job that deletes expired data: the rows of each
// kind that a system registers. Nothing depends on when it runs: it only frees
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

// recordTime is for recording a run whose context has ended.
const recordTime = 5 * time.Second

// Options are the settings of the job.
type Options struct {
	Interval    time.Duration // between the beginnings of two runs (CLEANUP_INTERVAL)
	BatchSize   int           // rows that one transaction deletes at most (CLEANUP_BATCH_SIZE)
	MaxDuration time.Duration // of one run (CLEANUP_MAX_DURATION)
	LongBatch   time.Duration // transactions that take longer get fewer rows; 0 = they may take any time
}

// Reaper is the job that deletes rows of each kind of the store; kinds that are
// kept are left alone and get no figures. A run deletes one batch of each kind in
// turn, each in its own transaction, until nothing is left, so that a kind with
// millions of rows does not delay the others. No batch begins after MaxDuration,
// which is no failure: the next run continues. After each batch the reaper rests
// four times as long as the batch took (rests), so that other writers have at
// least four fifths of the time. If a kind fails, the run continues with the
// others, and the next run tries it again.
//
// It fails if reg has a metric of its name.
func Reaper(store *cleanup.Store, opts Options, reg prometheus.Registerer) (jobs.Job, error) {
	rows := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "linkwatch_cleanup_rows_total", Help: "Rows that the reaper deleted in this process.",
	}, []string{"kind"})
	if err := reg.Register(rows); err != nil {
		return jobs.Job{}, fmt.Errorf("registering the metrics of the reaper: %w", err)
	}
	for _, kind := range store.Kinds() {
		if kind.Kept == "" {
			rows.WithLabelValues(kind.Kind) // there with 0 before the first
		}
	}
	r := &reaper{store, opts, rows}
	return jobs.Job{ID: cleanup.Job, Schedule: "@every " + opts.Interval.String(), Run: r.run}, nil
}

// next is how many rows the batch after one of limit rows gets. A row may take many
// rows of other tables with it, and other writers wait until all are deleted.
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

// task is what one run does about a kind.
type task struct {
	cleanup.Run
	of    cleanup.Kind
	limit int // rows of the next batch
	began bool
	err   error
}

// run is one run of the job.
func (r *reaper) run(taking, working context.Context) (did string, err error) {
	inTime, cancel := context.WithTimeout(taking, r.opts.MaxDuration)
	defer cancel()
	var tasks []*task
	now := r.store.Now()
	for _, kind := range r.store.Kinds() {
		if kind.Kept == "" {
			tasks = append(tasks, &task{Run: cleanup.Run{StartedAt: now, Kind: kind.Kind}, of: kind, limit: r.opts.BatchSize})
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
			rest(inTime, rests*took)
		}
	}
	err = r.finish(working, tasks)
	return summary(tasks, len(left) > 0, taking.Err() != nil), err
}

// batch deletes one batch of a kind and tells how long it took, and whether
// there may be more.
func (r *reaper) batch(ctx context.Context, t *task) (took time.Duration, more bool) {
	t.began = true
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

// try is one batch. A panic is the failure of its kind.
func (r *reaper) try(ctx context.Context, t *task) (n int64, err error) {
	defer func() {
		if p := recover(); p != nil {
			n, err = 0, fmt.Errorf("panic: %v", p)
		}
	}()
	return r.store.Batch(ctx, t.Kind, t.limit, t.of.Remove)
}

// rests is how many times as long as a batch took the reaper rests after it.
const rests = 4

// rest waits, unless ctx ends before.
func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// finish records what was done, also of a run that was given up. (The runner
// gives the job's lease back only after that: who sees that the run is over
// sees its figures too.)
func (r *reaper) finish(working context.Context, tasks []*task) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(working), recordTime)
	defer cancel()
	var errs []error
	for _, t := range tasks {
		if !t.began {
			continue
		}
		if t.err != nil {
			t.Error = t.err.Error()
		}
		errs = append(errs, t.err, r.store.Finish(ctx, t.Run))
	}
	return errors.Join(errs...)
}

// summary is what a run did, for the job's history: "1,000 old notes, 3 drafts".
func summary(tasks []*task, more, stopped bool) string {
	var parts []string
	for _, t := range tasks {
		if t.Cleaned > 0 {
			parts = append(parts, humanize.Comma(t.Cleaned)+" "+t.of.Noun(t.Cleaned))
		}
	}
	did := strings.Join(parts, ", ")
	if did == "" {
		did = "nothing deleted"
	}
	switch {
	case more && stopped:
		did += "; interrupted"
	case more:
		did += "; the time was up, the next run goes on"
	}
	return did
}
