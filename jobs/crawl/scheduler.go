package crawl

import (
	"context"
	"encoding/json"
	"errors"
	runtimemetrics "runtime/metrics"
	"time"

	"linkwatch/jobs"
	"linkwatch/models/crawl"
	"linkwatch/models/lease"
)

const (
	passInterval    = 250 * time.Millisecond // while this instance holds jobs
	staleInterval   = time.Minute            // between two searches for stale locks
	collectInterval = 30 * time.Second       // between two collections of metrics
	maxStarts       = 100                    // jobs started in one pass
	maxRunning      = 1000                   // maximum number of jobs that an instance runs at a time
	passTimeout     = 10 * time.Second
	releaseTimeout  = 5 * time.Second // for releasing jobs at shutdown
	// adaptiveTTL is how long Redis keeps the state of a source after its last crawl.
	adaptiveTTL = 60 * 24 * time.Hour
)

// scheduler starts due jobs and ends executions. It is not safe for concurrent use.
type scheduler struct {
	*Crawler
	running int
	peaks   map[int64]int64 // peak memory during each execution, by Seq, in MiB
	polled  time.Time
	cleared time.Time
	counted time.Time
	failing bool
}

// run works until taking is done.
func (s *scheduler) run(taking context.Context) {
	for {
		wait, err := s.pass(taking)
		if err != nil && taking.Err() == nil && !s.failing {
			jobs.LogError(s.opts.Log, "schedule crawls failed", err)
		}
		s.failing = err != nil
		select {
		case <-taking.Done():
			return
		case <-s.store.JobsChanged():
			s.polled = time.Time{}
		case <-time.After(wait):
		}
	}
}

// pass does the due work and returns the time until the next pass.
func (s *scheduler) pass(taking context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(taking, passTimeout)
	defer cancel()
	holder, _, ok := s.opts.Lease.Current()
	if !ok {
		return lease.Heartbeat / 4, nil
	}
	var errs []error
	now := time.Now()
	if now.Sub(s.cleared) >= min(staleInterval, s.opts.PollInterval) { // more often than staleInterval, because the lease of a crashed instance expires seconds after a restart
		s.cleared = now
		n, err := s.store.ClearStaleLocks(ctx)
		errs = append(errs, err)
		if n > 0 {
			s.opts.Log.Warn("stale locks cleared", "jobs", n)
			s.polled = time.Time{}
		}
	}
	errs = append(errs, s.end(ctx, holder))
	wait := s.opts.PollInterval
	if now.Sub(s.polled) >= s.opts.PollInterval {
		s.polled = now
		errs = append(errs, s.start(ctx, holder))
	} else {
		wait -= now.Sub(s.polled)
	}
	if now.Sub(s.counted) >= collectInterval {
		s.counted = now
		errs = append(errs, s.collect(ctx))
	}
	if s.running > 0 {
		wait = min(wait, passInterval)
	}
	wait = min(wait, staleInterval, collectInterval)
	return max(wait, 10*time.Millisecond), errors.Join(errs...)
}

// start starts due jobs.
func (s *scheduler) start(ctx context.Context, holder lease.ID) error {
	if err := s.store.RetryFailed(ctx); err != nil {
		return err
	}
	seqs, _, err := s.store.DueJobs(ctx, min(maxStarts, maxRunning-s.running))
	if err != nil {
		return err
	}
	var errs []error
	for _, seq := range seqs {
		e, started, err := s.store.StartExecution(ctx, holder, seq)
		if errors.Is(err, lease.ErrLost) { // the next heartbeat acquires a new lease
			return nil
		}
		if err != nil { // start the other jobs anyway
			errs = append(errs, err)
		}
		if started {
			s.running++
			s.opts.Log.Info("crawl started", "execution_id", e.ID, "number", e.ExecutionNumber)
		}
	}
	if len(seqs) == maxStarts { // there may be more
		s.polled = time.Time{}
	}
	return errors.Join(append(errs, s.store.RecordSchedulerPoll(ctx))...)
}

// end ends the executions that are done or cannot continue.
func (s *scheduler) end(ctx context.Context, holder lease.ID) error {
	executions, err := s.store.RunningExecutions(ctx, holder)
	if err != nil {
		return err
	}
	s.running = len(executions)
	peak, running := memoryInUse(), make(map[int64]int64, len(executions))
	var errs []error
	for _, e := range executions {
		running[e.Seq] = max(s.peaks[e.Seq], peak)
		if end, over := endOf(e); over {
			end.MemoryPeakMB = running[e.Seq]
			errs = append(errs, s.endOne(ctx, e.Execution, end))
		}
	}
	s.peaks = running
	return errors.Join(errs...)
}

// endOf returns how an execution ends; over reports whether it ends now.
func endOf(e crawl.RunningExecution) (end crawl.ExecutionEnd, over bool) {
	switch {
	case e.Deleted:
		return crawl.ExecutionEnd{Event: crawl.Release, Error: "the job or its source was deleted"}, true
	case !e.Enabled:
		return crawl.ExecutionEnd{Event: crawl.Release, Error: "the source was disabled"}, true
	case e.StackTrace != "":
		return crawl.ExecutionEnd{Event: crawl.Fail, Error: e.StartError, Stack: e.StackTrace}, true
	case e.StartError != "":
		return crawl.ExecutionEnd{Event: crawl.Fail, Error: "start page: " + e.StartError}, true
	case e.Queued <= 0:
		return crawl.ExecutionEnd{Event: crawl.Succeed}, true
	}
	return end, false
}

func (s *scheduler) endOne(ctx context.Context, e crawl.Execution, end crawl.ExecutionEnd) error {
	err := s.store.EndExecution(ctx, e, end)
	if errors.Is(err, crawl.ErrLockLost) { // a user cancelled it, or another instance has it
		return nil
	}
	if err != nil {
		return err
	}
	s.running--
	s.queue.metrics.executions.WithLabelValues(string(end.Event)).Inc()
	attrs := []any{"execution_id", e.ID, "pages", e.ItemsCrawled}
	if end.Error != "" {
		attrs = append(attrs, "error", end.Error)
	}
	s.opts.Log.Info("crawl ended", attrs...)
	if end.Event == crawl.Succeed {
		s.share(ctx, e)
	}
	return nil
}

// share writes the state of adaptive scheduling to Redis for other programs. Linkwatch itself reads it
// from the database.
func (s *scheduler) share(ctx context.Context, e crawl.Execution) {
	if s.opts.Redis == nil {
		return
	}
	j, err := s.store.Job(ctx, e.JobID)
	if err == nil && !j.AdaptiveScheduling {
		return
	}
	var state []byte
	if err == nil {
		state, err = json.Marshal(map[string]any{
			"content_hash": j.ContentHash, "unchanged_count": j.UnchangedCount, "interval_seconds": j.IntervalSeconds, "updated_at": j.UpdatedAt.Time,
		})
	}
	if err == nil {
		key := "crawler:adaptive:" + j.SourceID
		err = errors.Join(s.opts.Redis.HSet(ctx, key, e.JobID, state).Err(), s.opts.Redis.Expire(ctx, key, adaptiveTTL).Err())
	}
	if err != nil {
		s.opts.Log.Debug("share adaptive state failed", "error", err)
	}
}

func (s *scheduler) collect(ctx context.Context) error {
	m, err := s.store.CollectMetrics(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.metrics = m
	s.mu.Unlock()
	return nil
}

// release releases the jobs that this instance holds. Other instances, or this one after a restart,
// continue their crawls immediately.
func (s *scheduler) release(working context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(working), releaseTimeout)
	defer cancel()
	holder, _, _ := s.opts.Lease.Current()
	if holder == "" {
		return
	}
	executions, err := s.store.RunningExecutions(ctx, holder)
	for _, e := range executions {
		end, over := endOf(e)
		if !over {
			end = crawl.ExecutionEnd{Event: crawl.Release, Error: crawl.Interrupted}
		}
		end.MemoryPeakMB = s.peaks[e.Seq]
		if endErr := s.store.EndExecution(ctx, e.Execution, end); endErr != nil && !errors.Is(endErr, crawl.ErrLockLost) {
			err = errors.Join(err, endErr)
		}
	}
	if err != nil {
		jobs.LogError(s.opts.Log, "release crawls failed, they stay locked until their locks are stale", err)
	}
}

func memoryInUse() int64 {
	sample := []runtimemetrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	runtimemetrics.Read(sample)
	return int64(sample[0].Value.Uint64()+sample[1].Value.Uint64()) >> 20
}
