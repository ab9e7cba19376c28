package targets

import (
	"context"
	"time"

	"linkwatch/jobs/dispatch"
	"linkwatch/models/targets"
)

// retryDelays are the delays before the second and the third attempt.
var retryDelays = [...]time.Duration{200 * time.Millisecond, 400 * time.Millisecond}

// Try implements dispatch.Queue. It makes one request of a check.
func (q *queue) Try(ctx context.Context, c *check) dispatch.Outcome {
	if c.startedAt.IsZero() {
		q.begin(c)
	}
	c.attempts++
	f := probe(ctx, q.client, c.Target)
	if f.canceled { // the process is stopping
		q.running.remove(c)
		return dispatch.Outcome{Step: dispatch.Release}
	}
	c.found = f
	o := dispatch.Outcome{TimedOut: f.problem == timedOut}
	if f.transient && c.attempts <= len(retryDelays) {
		o.Step, o.After = dispatch.Retry, retryDelays[c.attempts-1]
		return o
	}
	q.running.remove(c)
	c.elapsed = time.Since(c.monotonicStart)
	q.metrics.checks.WithLabelValues(c.found.outcome.String()).Inc()
	return o
}

// begin prepares the first attempt. If the check is late by whole intervals, the checks
// that were due in between are counted as skipped.
func (q *queue) begin(c *check) {
	c.startedAt, c.monotonicStart = q.store.Now(), time.Now()
	// Start times of a target are unique, even if the clock does not advance. If the clock
	// was set back by a second or more, the new time is used.
	if ahead := c.LastCheckedAt.Sub(c.startedAt.Time); ahead >= 0 && ahead < time.Second {
		c.startedAt = c.LastCheckedAt.Add(time.Microsecond)
	}
	lag := max(0, c.startedAt.Sub(c.OverdueSince().Time))
	q.metrics.lag.Observe(lag.Seconds())
	q.metrics.skipped.Add(float64(lag / q.store.Interval(c.Target)))
	q.running.add(c)
}

// checked returns the record of a finished check.
func (c *check) checked() targets.Checked {
	f := c.found
	return targets.Checked{
		Target: c.Target,
		Result: targets.Result{
			CheckedAt: c.startedAt, Outcome: f.outcome, StatusCode: f.status,
			LatencyMS: int(f.latency.Milliseconds()), Attempts: c.attempts, Error: f.problem,
		},
		Elapsed: c.elapsed, TLSExpiresAt: f.tlsExpiresAt, RetryAfter: f.retryAfter,
	}
}
