package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/robfig/cron/v3"

	"linkwatch/models"
	"linkwatch/models/lease"
	"linkwatch/models/schedule"
)

const (
	slowPoll   = 5 * time.Second        // how soon a request made on another instance is seen
	shortPoll  = 100 * time.Millisecond // between two looks at least
	storeTime  = 10 * time.Second       // for the statements of one pass
	recordTime = 5 * time.Second        // to record the end of a run whose context has ended
)

// Job is one line of the table of scheduled jobs.
type Job struct {
	ID       string // lower-case letters and "-"
	Schedule string // as robfig/cron reads it, in UTC: "@every 1m" or "5 4 * * *"
	// Run does the work and says what it did, in a few words. taking ends when
	// the program stops: a job of many parts begins no further one. working
	// ends when that took too long, or when this instance lost its lease: Run
	// must then return at once.
	Run func(taking, working context.Context) (summary string, err error)
	// Overdue reports whether the job is asked to run when the program starts, before it is due; nil = it is not.
	Overdue func() bool
}

// Runner is the Service that runs scheduled jobs, each at most once at a time
// on all instances together: a job that is due while it runs is skipped, and
// counted (ADR 7). When a job is due is kept in the store, not in
// this process, so that a restart puts off no run and several instances share
// the work; cron's part is to read the schedules.
type Runner struct {
	*Background
	store   *schedule.Store
	lease   *lease.Lease
	log     *slog.Logger
	metrics *metrics
	table   map[string]job

	mu      sync.Mutex
	running map[string]bool // in this process
	ended   chan struct{}   // rings when a run has ended
}

type job struct {
	Job
	next func(time.Time) time.Time
}

// NewRunner makes a runner of the jobs, which runs them under a lease that a
// Heartbeat keeps. It fails for a schedule that cannot be read, for an id that is
// there twice, and if reg has metrics of these names.
func NewRunner(store *schedule.Store, held *lease.Lease, log *slog.Logger, reg prometheus.Registerer, jobs ...Job) (*Runner, error) {
	m, err := newMetrics(reg)
	if err != nil {
		return nil, err
	}
	r := &Runner{
		store: store, lease: held, log: log, metrics: m, table: map[string]job{},
		running: map[string]bool{}, ended: make(chan struct{}, 1),
	}
	r.Background = NewBackground(r.loop)
	for _, j := range jobs {
		s, err := cron.ParseStandard(j.Schedule)
		if err != nil {
			return nil, fmt.Errorf("the schedule of the job %s: %w", j.ID, err)
		}
		if _, twice := r.table[j.ID]; twice {
			return nil, fmt.Errorf("the job %s is scheduled twice", j.ID)
		}
		r.table[j.ID] = job{j, s.Next}
		m.expect(j.ID)
	}
	return r, nil
}

// loop begins runs until taking ends, then waits for them. It uses one
// goroutine, and one for each job that runs.
func (r *Runner) loop(taking, working context.Context) {
	var runs sync.WaitGroup
	defer runs.Wait()
	declared, failing := false, false
	for {
		wait := slowPoll
		var err error
		asking, cancel := context.WithTimeout(taking, storeTime)
		if !declared {
			err = r.Declare(asking)
			declared = err == nil
		}
		if declared {
			wait, err = r.pass(asking, taking, working, &runs)
		}
		cancel()
		if taking.Err() != nil {
			return
		}
		if err != nil { // the store may answer again later
			if !failing {
				LogError(r.log, "scheduling jobs", err)
			}
			wait = slowPoll
		}
		failing = err != nil
		select {
		case <-taking.Done():
			return
		case <-r.store.Requested():
		case <-r.ended:
		case <-time.After(wait):
		}
	}
}

// Declare makes the jobs known, so that they can be asked for. The runner does
// so itself when it starts; a program that answers requests before that calls it first.
func (r *Runner) Declare(ctx context.Context) error {
	now := r.store.Now()
	var jobs []schedule.Job
	for _, id := range slices.Sorted(maps.Keys(r.table)) { // in one order: instances that start together do not lock each other out
		j := r.table[id]
		jobs = append(jobs, schedule.Job{ID: j.ID, Schedule: j.Schedule, NextRunAt: models.At(j.next(now.Time))})
	}
	if err := r.store.Declare(ctx, jobs...); err != nil {
		return err
	}
	for _, j := range jobs {
		if overdue := r.table[j.ID].Overdue; overdue == nil || !overdue() {
			continue
		}
		if err := r.store.RequestAtStart(ctx, j.ID); err != nil && models.CodeOf(err) != models.CodeConflict { // it runs already
			return err
		}
	}
	return nil
}

// pass begins or skips what is due or requested, and tells how long until the next
// look. Its own statements end with asking.
func (r *Runner) pass(asking, taking, working context.Context, runs *sync.WaitGroup) (time.Duration, error) {
	jobs, err := r.store.Jobs(asking)
	if err != nil {
		return 0, err
	}
	now := r.store.Now()
	wait := slowPoll
	var errs []error
	holder, _, _ := r.lease.Current()
	for _, j := range jobs {
		if j.Running() && j.ClaimedBy == holder && !r.isRunning(j.ID) { // beginning or finishing its run was not stored
			if err := r.store.Release(asking, holder, j.ID); err != nil {
				errs = append(errs, err)
				continue
			}
			j.ClaimedBy = ""
		}
		mine, known := r.table[j.ID]
		if !known { // another instance is of a newer version
			continue
		}
		r.metrics.setFailed(j.ID, j.LastError != "")
		due := !j.NextRunAt.IsZero() && !j.NextRunAt.After(now.Time)
		switch {
		case due && j.Running():
			skipped, err := r.store.Skip(asking, j.ID, j.NextRunAt, mine.next)
			if skipped {
				r.metrics.skips.WithLabelValues(j.ID).Inc()
				r.log.Info("job is due but still running, skipped", "job", j.ID)
			}
			errs = append(errs, err)
		case due || !j.RequestedAt.IsZero() && !j.Running():
			errs = append(errs, r.begin(asking, taking, working, mine, runs))
		}
		if due {
			wait = min(wait, mine.next(now.Time).Sub(now.Time))
		} else if !j.NextRunAt.IsZero() {
			wait = min(wait, j.NextRunAt.Sub(now.Time))
		}
	}
	return max(wait, shortPoll), errors.Join(errs...)
}

// begin runs a job in a goroutine of its own unless it runs already, or this
// instance holds no lease for now.
func (r *Runner) begin(asking, taking, working context.Context, j job, runs *sync.WaitGroup) error {
	holder, held, ok := r.lease.Current()
	if !ok || r.isRunning(j.ID) { // it runs here after its lease was lost, and is being given up
		return nil
	}
	run, began, err := r.store.Begin(asking, holder, j.ID, j.next)
	if errors.Is(err, lease.ErrLost) { // the next Beat begins a new one
		return nil
	}
	if !began {
		return err
	}
	r.setRunning(j.ID, true)
	runs.Go(func() {
		r.do(taking, working, held, j, run)
		r.setRunning(j.ID, false)
		select {
		case r.ended <- struct{}{}:
		default: // it rings already
		}
	})
	return nil
}

// do runs a job and records how it went. It gives the run up when the lease is lost. A run that fails
// while the program stops is interrupted: it runs again after the restart.
func (r *Runner) do(taking, working, held context.Context, j job, run schedule.Run) {
	log := r.log.With("job", j.ID, "run", run.ID)
	work, giveUp := context.WithCancel(working)
	defer giveUp()
	more, end := context.WithCancel(taking)
	defer end()
	stop := context.AfterFunc(held, func() {
		log.Error("job is given up: this instance lost its lease")
		end()
		giveUp()
	})
	defer stop()
	start := time.Now()
	summary, err := call(more, work, j, log)
	run.Duration, run.Summary = time.Since(start), summary
	record, done := context.WithTimeout(context.WithoutCancel(working), recordTime)
	defer done()
	if err != nil && taking.Err() != nil {
		log.Info("job interrupted, runs again after the restart", "error", err, "took_us", run.Duration.Microseconds())
		if err := r.store.Interrupt(record, run); err != nil { // its lease ends with the program
			log.Error("job interrupted without a record", "error", err)
		}
		return
	}
	outcome := "success"
	if err != nil {
		run.Error, outcome = err.Error(), "failure"
		log.Warn("job failed", "error", err, "took_us", run.Duration.Microseconds())
	} else {
		log.Debug("job done", "summary", summary, "took_us", run.Duration.Microseconds())
	}
	r.metrics.runs.WithLabelValues(j.ID, outcome).Inc()
	r.metrics.duration.WithLabelValues(j.ID).Observe(run.Duration.Seconds())

	if err := r.store.Finish(record, run); err != nil { // the next pass releases the job
		log.Error("job ended without a record", "error", err)
	}
}

// call runs a job; a panic is a failure with its message.
func call(taking, working context.Context, j job, log *slog.Logger) (summary string, err error) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("job panicked", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return j.Run(taking, working)
}

func (r *Runner) isRunning(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running[id]
}

func (r *Runner) setRunning(id string, on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running[id] = on
	value := 0.0
	if on {
		value = 1
	}
	r.metrics.running.WithLabelValues(id).Set(value)
}
