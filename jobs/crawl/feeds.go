package crawl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"linkwatch/jobs"
	"linkwatch/jobs/dispatch"
	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/lease"
	"linkwatch/outbound"
)

// Limits of a run of the job.
const (
	feedWorkers   = 4                // concurrent polls
	maxPolls      = 500              // per run
	pollBudget    = 5 * time.Minute  // per run
	hostWait      = 30 * time.Second // maximum wait for a host that is claimed or must not be requested yet
	hostRetry     = 100 * time.Millisecond
	pauseStep     = 500 * time.Millisecond // maximum time until a pausing poll notices a shutdown
	hostRequeue   = time.Minute            // until a feed whose host was not free is due again
	feedRedirects = 5
)

// Feeds returns the job that polls due feeds. Each poll claims its host, so that no crawl requests
// the host at the same time, and waits between requests as the source demands. If polling is off,
// the job does nothing.
func (c *Crawler) Feeds() jobs.Job {
	return jobs.Job{ID: "feeds", Schedule: "@every 1m", Run: func(taking, working context.Context) (string, error) {
		if !c.opts.FeedPolling {
			return "off: CRAWLER_FEED_POLL_ENABLED is false", nil
		}
		inBudget, cancel := context.WithTimeout(taking, pollBudget)
		defer cancel()
		q := &feedQueue{queue: c.queue, inBudget: inBudget, polled: map[crawl.PollOutcome]int{}}
		err := dispatch.New(q, dispatch.Options{
			Name: "feeds", Lease: c.opts.Lease, Workers: min(feedWorkers, c.opts.Workers), Log: c.opts.Log, Metrics: dispatch.NewMetrics(), MaxDelay: hostRequeue, Drain: true,
		}).Run(inBudget, working)
		return q.String(), err
	}}
}

// feedQueue is the dispatch.Queue of due feeds, for one run of the job.
type feedQueue struct {
	*queue
	inBudget context.Context // done = send no new requests
	claimed  int
	polled   map[crawl.PollOutcome]int
	entries  int
}

// String is the result of the run on the page of jobs: "12 polled: 3 unchanged, 1 failed; 7 new entries".
func (q *feedQueue) String() string {
	sum, parts := 0, ""
	for _, o := range []crawl.PollOutcome{crawl.PollRead, crawl.PollUnchanged, crawl.PollFailed, crawl.PollGone} {
		sum += q.polled[o]
		if q.polled[o] > 0 {
			parts += fmt.Sprintf(", %d %s", q.polled[o], o)
		}
	}
	if sum == 0 {
		return "0 polled"
	}
	return fmt.Sprintf("%d polled: %s; %d new entries", sum, parts[2:], q.entries)
}

// Claim implements dispatch.Queue.
func (q *feedQueue) Claim(ctx context.Context, holder lease.ID, n int) ([]*feedPoll, time.Duration, error) {
	if n = min(n, maxPolls-q.claimed); n <= 0 {
		return nil, -1, nil
	}
	feeds, next, err := q.store.ClaimFeeds(ctx, holder, n)
	if err != nil {
		return nil, 0, err
	}
	q.claimed += len(feeds)
	polls := make([]*feedPoll, len(feeds))
	for i, f := range feeds {
		polls[i] = &feedPoll{Poll: crawl.Poll{Feed: f}, at: f.URL, moved: true}
	}
	if next.IsZero() {
		return polls, -1, nil
	}
	return polls, max(0, next.Sub(q.store.Now().Time)), nil
}

// Finish implements dispatch.Queue.
func (q *feedQueue) Finish(ctx context.Context, done []*feedPoll) error {
	polls := make([]*crawl.Poll, len(done))
	for i, p := range done {
		p.setNext(q.store.Now())
		polls[i] = &p.Poll
	}
	n, err := q.store.RecordPolls(ctx, polls...)
	if err != nil {
		return err
	}
	q.entries += n
	q.metrics.feedEntries.Add(float64(n))
	for _, p := range polls {
		q.polled[p.Outcome]++
		q.metrics.polls.WithLabelValues(string(p.Outcome)).Inc()
	}
	return nil
}

// Release implements dispatch.Queue.
func (q *feedQueue) Release(ctx context.Context, items []lease.Released[*feedPoll]) error {
	feeds := make([]crawl.ReleasedFeed, len(items))
	for i, b := range items {
		b.Item.setNext(q.store.Now())
		feeds[i] = crawl.ReleasedFeed{ClaimedFeed: b.Item.Feed, Hosts: b.Item.Hosts, Delay: b.After}
	}
	return q.store.ReleaseFeeds(ctx, feeds)
}

// ReleaseOthers implements dispatch.Queue.
func (q *feedQueue) ReleaseOthers(ctx context.Context, holder lease.ID, keep []*feedPoll) error {
	feeds := make([]crawl.ClaimedFeed, len(keep))
	for i, p := range keep {
		feeds[i] = p.Feed
	}
	return q.store.ReleaseOtherFeeds(ctx, holder, feeds)
}

// Host implements dispatch.Queue.
func (*feedQueue) Host(p *feedPoll) string { return models.HostPort(p.Feed.URL) }

// Due implements dispatch.Queue.
func (*feedQueue) Due(p *feedPoll) time.Time { return p.Feed.NextPollAt.Time }

// Slow implements dispatch.Queue.
func (*feedQueue) Slow(p *feedPoll) bool { return p.Feed.LastError == timedOut }

// Tried implements dispatch.Queue.
func (*feedQueue) Tried(p *feedPoll) time.Time { return p.Feed.LastPolledAt.Time }

const timedOut = "timed out" // the text of outbound.KindTimeout

// hold claims the host of the next request. If it cannot, o says when to retry.
func (q *feedQueue) hold(ctx context.Context, p *feedPoll) (o dispatch.Outcome, ok bool) {
	for _, h := range p.Hosts {
		if h.Host == models.HostPort(p.at) {
			return o, true
		}
	}
	h, wait, claimed, err := q.store.ClaimHost(ctx, p.Feed.ClaimedBy, p.at, crawl.MaxClaimTime)
	switch {
	case err != nil && ctx.Err() != nil, errors.Is(err, lease.ErrLost):
		return dispatch.Outcome{Step: dispatch.Release}, false
	case err != nil:
		jobs.LogError(q.log, "claim host of feed failed", err)
		return dispatch.Outcome{Step: dispatch.Release, After: hostRequeue}, false
	case claimed:
		p.Hosts = append(p.Hosts, h)
		return p.pause(wait), wait == 0
	case wait > hostWait || time.Since(p.started) > hostWait:
		return dispatch.Outcome{Step: dispatch.Release, After: max(wait, hostRequeue)}, false
	}
	return dispatch.Outcome{Step: dispatch.Retry, After: hostRetry}, false
}

// Try implements dispatch.Queue. It claims the host and sends one request of a poll.
func (q *feedQueue) Try(ctx context.Context, p *feedPoll) dispatch.Outcome {
	if q.inBudget.Err() != nil {
		return dispatch.Outcome{Step: dispatch.Release}
	}
	if p.started.IsZero() {
		p.started = time.Now()
	}
	if left := time.Until(p.notBefore); left > 0 {
		return p.pause(left)
	}
	if o, ok := q.hold(ctx, p); !ok {
		return o
	}
	p.delay = time.Duration(p.Feed.RateLimitMS) * time.Millisecond
	if q.robots != nil {
		v, err := q.robots.Check(ctx, p.at)
		switch {
		case err != nil:
			return dispatch.Outcome{Step: dispatch.Release}
		case !v.Allowed:
			return p.fail(v.Reason)
		}
		p.delay = max(p.delay, v.Delay)
		if v.Fetched && p.delay > hostWait {
			return dispatch.Outcome{Step: dispatch.Release, After: p.delay}
		}
		if v.Fetched && p.delay > 0 {
			return p.pause(p.delay)
		}
	}
	started := time.Now()
	res, err := q.client.Fetch(ctx, q.feedRequest(p))
	p.slow = time.Since(started) > slowAfter
	if err != nil {
		return p.refused(ctx, err)
	}
	return p.read(res)
}

func (q *feedQueue) feedRequest(p *feedPoll) outbound.Request {
	r := outbound.Request{URL: p.at, MaxBytes: outbound.FeedLimit, Cookies: p.cookies}
	r.IfNoneMatch, r.IfModifiedSince = p.Feed.Validators(q.store.Now())
	if q.opts.RandomUserAgent {
		r.UserAgent = outbound.RandomUserAgent()
	}
	return r
}
