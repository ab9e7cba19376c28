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
	slowPoll   = 5 * time.Second        // the longest time until a request made on another instance is found
	shortPoll  = 100 * time.Millisecond // the shortest time between two passes
	storeTime  = 10 * time.Second       // for the statements of one pass
	recordTime = 5 * time.Second        // for recording a run whose context has ended
)

// Job is a scheduled job.
type Job struct {
	ID       string // lower-case letters and "-"
	Schedule string // as robfig/cron reads it, in UTC: "@every 1m" or "5 4 * * *"
	// Run does the work and returns a summary of a few words. taking ends when the program stops: a job of many
	// parts then starts no further one. working ends when the grace period is over or this instance loses its
	// lease: Run must then return at once.
	Run func(taking, working context.Context) (summary string, err error)
	// Overdue reports whether to run the job when the program starts, before it is due. Nil means no.
	Overdue func() bool
}

// Runner is the Service that runs scheduled jobs, each at most once at a time across all instances. A job that is
// due while it runs is skipped and counted (ADR 7). Due times are stored in the database, not in this process: a
// restart delays no run, and several instances share the work. The cron package only parses the schedules.
type Runner struct {
	*Background
	store   *schedule.Store
	lease   *lease.Lease
	log     *slog.Logger
	metrics *metrics
	table   map[string]job

	mu      sync.Mutex
	running map[string]bool // in this process
	ended   chan struct{}   // receives a value when a run has ended
}

type job struct {
	Job
	next func(time.Time) time.Time
}

// NewRunner returns a runner of the jobs, which run under a lease that a Heartbeat renews. It returns an error if
// a schedule cannot be parsed, an id is used twice or reg has metrics of these names.
func NewRunner(store *schedule.Store, instance *lease.Lease, log *slog.Logger, reg prometheus.Registerer, jobs ...Job) (*Runner, error) {
	m, err := newMetrics(reg)
	if err != nil {
		return nil, err
	}
	r := &Runner{
		store: store, lease: instance, log: log, metrics: m, table: map[string]job{},
		running: map[string]bool{}, ended: make(chan struct{}, 1),
	}
	r.Background = NewBackground(r.loop)
	for _, j := range jobs {
		s, err := cron.ParseStandard(j.Schedule)
		if err != nil {
			return nil, fmt.Errorf("schedule of job %s: %w", j.ID, err)
		}
		if _, exists := r.table[j.ID]; exists {
			return nil, fmt.Errorf("job %s is declared twice", j.ID)
		}
		r.table[j.ID] = job{j, s.Next}
		m.expect(j.ID)
	}
	return r, nil
}

// loop starts runs until taking ends, then waits for them. It uses one goroutine, plus one for each running job.
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
		if err != nil { // the store may be available again later
			if !failing {
				LogError(r.log, "job scheduling failed", err)
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

// Declare stores the jobs, so that a run of them can be requested. The runner does so when it starts. A program
// that serves requests before that calls Declare first.
func (r *Runner) Declare(ctx context.Context) error {
	now := r.store.Now()
	var jobs []schedule.Job
	for _, id := range slices.Sorted(maps.Keys(r.table)) { // in a fixed order: instances that start together do not deadlock
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

// pass starts or skips jobs that are due or requested. It returns the time until the next pass. asking bounds its
// own statements.
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
		if j.Running() && j.ClaimedBy == holder && !r.isRunning(j.ID) { // the start or end of its run was not stored
			if err := r.store.Release(asking, holder, j.ID); err != nil {
				errs = append(errs, err)
				continue
			}
			j.ClaimedBy = ""
		}
		mine, known := r.table[j.ID]
		if !known { // another instance runs a newer version
			continue
		}
		r.metrics.setFailed(j.ID, j.LastError != "")
		due := !j.NextRunAt.IsZero() && !j.NextRunAt.After(now.Time)
		switch {
		case due && j.Running():
			skipped, err := r.store.Skip(asking, j.ID, j.NextRunAt, mine.next)
			if skipped {
				r.metrics.skips.WithLabelValues(j.ID).Inc()
				r.log.Info("job skipped: still running", "job", j.ID)
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

// begin runs a job in a goroutine unless it already runs or this instance has no valid lease.
func (r *Runner) begin(asking, taking, working context.Context, j job, runs *sync.WaitGroup) error {
	holder, leased, ok := r.lease.Current()
	if !ok || r.isRunning(j.ID) { // it may still be stopping after a lost lease
		return nil
	}
	run, started, err := r.store.Begin(asking, holder, j.ID, j.next)
	if errors.Is(err, lease.ErrLost) { // the next heartbeat begins a new one
		return nil
	}
	if !started {
		return err
	}
	r.setRunning(j.ID, true)
	runs.Go(func() {
		r.do(taking, working, leased, j, run)
		r.setRunning(j.ID, false)
		select {
		case r.ended <- struct{}{}:
		default: // already signaled
		}
	})
	return nil
}

// do runs a job and records its outcome. It cancels the run when the lease is lost. A run that fails while the
// program stops counts as interrupted: it runs again after the restart.
func (r *Runner) do(taking, working, leased context.Context, j job, run schedule.Run) {
	log := r.log.With("job", j.ID, "run", run.ID)
	work, giveUp := context.WithCancel(working)
	defer giveUp()
	more, end := context.WithCancel(taking)
	defer end()
	stop := context.AfterFunc(leased, func() {
		log.Error("job canceled: lease lost")
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
		log.Info("job interrupted", "error", err, "took_us", run.Duration.Microseconds())
		if err := r.store.Interrupt(record, run); err != nil { // its lease ends with the program
			log.Error("interrupted job not recorded", "error", err)
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
		log.Error("job outcome not recorded", "error", err)
	}
}

// call runs a job. A panic becomes an error.
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
