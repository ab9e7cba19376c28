package targets

import (
	"context"
	"time"

	"linkwatch/jobs/dispatch"
	"linkwatch/models/targets"
)

// pauses are before the second and the third attempt.
var pauses = [...]time.Duration{200 * time.Millisecond, 400 * time.Millisecond}

// Try implements dispatch.Queue: one request of a check.
func (q *queue) Try(ctx context.Context, c *check) dispatch.Outcome {
	if c.began.IsZero() {
		q.begin(c)
	}
	c.made++
	f := probe(ctx, q.client, c.Target)
	switch {
	case f.cut: // the program stops
		return dispatch.Outcome{Step: dispatch.Release}
	case f.refused && c.made == 1: // nothing was sent
		if f.pause {
			c.PostponedUntil = q.store.Now().Add(f.retryAfter)
		}
		return dispatch.Outcome{Step: dispatch.Release, After: f.retryAfter}
	case f.refused: // the pause that the response before asked for: that one counts
		c.made--
	default:
		c.found = f
	}
	o := dispatch.Outcome{TimedOut: f.problem == timedOut}
	if f.transient && !f.refused && c.made <= len(pauses) {
		o.Step, o.After = dispatch.Retry, pauses[c.made-1]
		return o
	}
	c.took = time.Since(c.start)
	q.metrics.checks.WithLabelValues(c.found.outcome.String()).Inc()
	return o
}

// begin is before the first attempt. What was due again meanwhile is skipped.
func (q *queue) begin(c *check) {
	c.began, c.start = q.store.Now(), time.Now()
	// No two checks of a target begin at the same time, also by a clock that
	// stands still. One that was far ahead before is not followed there.
	if ahead := c.LastCheckedAt.Sub(c.began.Time); ahead >= 0 && ahead < time.Second {
		c.began = c.LastCheckedAt.Add(time.Microsecond)
	}
	lag := max(0, c.began.Sub(c.OverdueSince().Time))
	q.metrics.lag.Observe(lag.Seconds())
	q.metrics.skipped.Add(float64(lag / q.store.Interval(c.Target)))
}

// checked is what is recorded of a check that is done.
func (c *check) checked() targets.Checked {
	f := c.found
	return targets.Checked{
		Target: c.Target,
		Result: targets.Result{
			CheckedAt: c.began, Outcome: f.outcome, StatusCode: f.status,
			LatencyMS: int(f.latency.Milliseconds()), Attempts: c.made, Error: f.problem,
		},
		Elapsed: c.took, TLSExpiresAt: f.tlsExpiresAt, RetryAfter: f.retryAfter,
	}
}
