// Package crawl runs crawls: it starts due jobs, fetches the URLs of the frontier and ends
// executions. models/crawl has the rules of crawls, and jobs/dispatch limits concurrent
// requests.
package crawl

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"linkwatch/jobs/dispatch"
	"linkwatch/models"
	"linkwatch/models/crawl"
	"linkwatch/models/lease"
	"linkwatch/outbound"
)

// queue is the dispatch.Queue of hosts with URLs in the frontier. An item is a claimed host
// with its results so far. Each attempt fetches one URL. The delay between two requests is a
// retry of the dispatcher.
type queue struct {
	store   *crawl.Store
	client  *outbound.Client
	robots  *outbound.Robots // nil = robots.txt is ignored
	opts    Options
	log     *slog.Logger
	watch   *watch
	metrics *metrics
	claimed int             // number of claimed hosts; used only by the goroutine that claims
	bytes   atomic.Int64    // approximate memory of results
	taking  context.Context // done = send no new requests
}

type claimedHost struct {
	crawl.HostBatch
	loaded bool
	stored bool
	ends   time.Time // when the claim of the host expires
	last   crawl.Host
}

// Claim implements dispatch.Queue.
func (q *queue) Claim(ctx context.Context, holder lease.ID, n int) ([]*claimedHost, time.Duration, error) {
	hosts, next, err := q.store.ClaimHosts(ctx, holder, min(n, maxHosts(q.opts.Workers)-q.claimed), q.claimed)
	if err != nil {
		return nil, 0, err
	}
	q.claimed += len(hosts)
	claimed := make([]*claimedHost, len(hosts))
	for i, h := range hosts {
		claimed[i] = &claimedHost{HostBatch: crawl.HostBatch{Host: h}, last: h}
	}
	wait := max(0, next.Sub(q.store.Now().Time))
	switch {
	case next.IsZero():
		wait = -1
	case len(hosts) == 0: // the due hosts are the share of other instances
		wait = max(wait, shareWait)
	}
	return claimed, wait, nil
}

// shareWait is the poll interval of an instance that holds its share of the hosts.
const shareWait = 200 * time.Millisecond

// maxHosts returns the maximum number of hosts that an instance holds: four per worker, because most
// hosts are between two requests. Each host has URLs and results in memory.
func maxHosts(workers int) int { return min(max(512, 4*workers), 4096) }

// Finish implements dispatch.Queue.
func (q *queue) Finish(ctx context.Context, done []*claimedHost) error {
	return q.record(ctx, done)
}

// recordBytes is the approximate maximum size of a transaction, unless a single host is larger.
const recordBytes = 4 << 20

// record stores the results of hosts, in several transactions if they are large. If it fails, it is called again
// with all hosts: the store ignores results that are stored already.
func (q *queue) record(ctx context.Context, hosts []*claimedHost) error {
	for len(hosts) > 0 {
		n, bytes := 1, hosts[0].Bytes
		for n < len(hosts) && bytes+hosts[n].Bytes <= recordBytes {
			bytes += hosts[n].Bytes
			n++
		}
		batch := make([]*crawl.HostBatch, n)
		for i, h := range hosts[:n] {
			batch[i] = &h.HostBatch
		}
		err := q.store.Record(ctx, batch...)
		if err != nil && !models.DatabaseDown(err) && ctx.Err() == nil {
			err = q.recordEach(ctx, batch)
		}
		if err != nil {
			return err
		}
		q.stored(hosts[:n])
		hosts = hosts[n:]
	}
	return nil
}

// recordEach stores the results of hosts one by one after a transaction with all of them failed
// although the database works. A host whose results cannot be stored must not block the others: its
// URLs fail.
func (q *queue) recordEach(ctx context.Context, hosts []*crawl.HostBatch) error {
	for _, h := range hosts {
		err := q.store.Record(ctx, h)
		if err == nil {
			continue
		}
		if models.DatabaseDown(err) || ctx.Err() != nil {
			return err
		}
		q.log.Error("store crawl results failed", "host", h.Host.Host, "error", err)
		failed := *h
		failed.Results = nil
		for _, r := range h.Results {
			failed.Results = append(failed.Results, crawl.Result{
				Entry: r.Entry, Status: crawl.EntryFailed, Reason: "could not be stored",
				LogLine: crawl.FormatLogLine(q.store.Now(), "error", "could not be stored", "url", lastURL(r.Entry.URL)),
			})
		}
		if err := q.store.Record(ctx, &failed); err != nil {
			return err
		}
	}
	return nil
}

// stored updates the counters after the results of hosts were stored.
func (q *queue) stored(hosts []*claimedHost) {
	for _, h := range hosts {
		if !h.stored {
			h.stored = true
			q.claimed = max(0, q.claimed-1)
			q.bytes.Add(-int64(h.Bytes))
		}
	}
}

// Release implements dispatch.Queue. It stores the results of interrupted requests.
func (q *queue) Release(ctx context.Context, items []lease.Released[*claimedHost]) error {
	hosts := make([]*claimedHost, len(items))
	for i, b := range items {
		h := b.Item
		if at := q.store.Now().Add(b.After); at.After(h.NextAt.Time) || !h.loaded {
			h.NextAt = at
		}
		hosts[i] = h
	}
	return q.record(ctx, hosts)
}

// ReleaseOthers implements dispatch.Queue.
func (q *queue) ReleaseOthers(ctx context.Context, holder lease.ID, keep []*claimedHost) error {
	hosts, bytes := make([]crawl.Host, len(keep)), int64(0)
	for i, h := range keep {
		hosts[i] = h.Host
		bytes += int64(h.Bytes)
	}
	if err := q.store.ReleaseOtherHosts(ctx, holder, hosts); err != nil {
		return err
	}
	q.claimed = len(keep)
	q.bytes.Store(bytes) // results under a lost lease no longer count
	return nil
}

// Host implements dispatch.Queue.
func (*queue) Host(h *claimedHost) string { return h.Host.Host }

// Due implements dispatch.Queue.
func (*queue) Due(h *claimedHost) time.Time { return h.last.NextAt.Time }

// Slow implements dispatch.Queue.
func (*queue) Slow(h *claimedHost) bool { return h.last.Slow }

// Tried implements dispatch.Queue.
func (*queue) Tried(h *claimedHost) time.Time { return h.last.LastAttemptAt.Time }

// Times of a host.
const (
	slowAfter   = time.Second      // request duration above which a host counts as slow
	idlePause   = 5 * time.Second  // until a host without fetchable entries is claimed again
	failPause   = time.Second      // after a failure; doubles with each consecutive one
	maxPause    = 15 * time.Second // after many failures
	deadAfter   = 8                // consecutive failures after which the loaded URLs of a host fail without a request
	maxAttempts = 3                // per entry
)

// maxBytes is the approximate memory of results above which no page is fetched. Ordinary pages use
// a few kilobytes and are stored within a second.
const (
	maxBytes = 32 << 20
	fullWait = 100 * time.Millisecond
)

// Try implements dispatch.Queue. It sends one request to a claimed host.
func (q *queue) Try(ctx context.Context, h *claimedHost) dispatch.Outcome {
	if !h.loaded {
		if err := q.load(ctx, h); err != nil || len(h.Unfetched) == 0 {
			return dispatch.Outcome{}
		}
	}
	e := h.Unfetched[0]
	holder, leased, _ := q.opts.Lease.Current()
	if holder != h.ClaimedBy { // another instance may have claimed the host
		return dispatch.Outcome{Step: dispatch.Release}
	}
	requestCtx, request := q.watch.startRequest(ctx, e.Crawl.Execution)
	defer request.done()
	defer context.AfterFunc(leased, request.cancel)() //nolint:contextcheck // leased is the context of the lease
	if q.bytes.Load() > maxBytes && q.taking.Err() == nil {
		if h.Bytes == 0 {
			return dispatch.Outcome{Step: dispatch.Retry, After: fullWait}
		}
		h.NextAt = q.store.Now()
		return dispatch.Outcome{}
	}
	if q.taking.Err() != nil || request.runEnded() {
		h.NextAt = q.store.Now()
		return dispatch.Outcome{}
	}
	started := time.Now()
	f := q.fetch(requestCtx, e)
	duration := time.Since(started)
	switch {
	case ctx.Err() != nil && f.cut: // the program stops, or the lease is lost
		h.NextAt = q.store.Now().Add(f.delay)
		return dispatch.Outcome{Step: dispatch.Release}
	case f.cut: // the crawl was cancelled
		h.NextAt = q.store.Now().Add(f.delay)
		return dispatch.Outcome{}
	case f.wait > 0: // at most robots.txt was requested
		h.NextAt = q.store.Now().Add(f.wait)
		if time.Now().Add(f.wait).Before(h.ends) {
			return dispatch.Outcome{Step: dispatch.Retry, After: f.wait}
		}
		return dispatch.Outcome{}
	}
	return q.after(h, f, duration)
}

func (q *queue) load(ctx context.Context, h *claimedHost) (err error) {
	h.loaded, h.ends = true, time.Now().Add(crawl.MaxClaimTime)
	n := crawl.MaxBatchEntries
	if h.DelayMS > 0 {
		n = 1 + int(crawl.MaxClaimTime.Milliseconds()/h.DelayMS)
	}
	if h.Unfetched, err = q.store.LoadEntries(ctx, h.Host, n); err != nil {
		if ctx.Err() == nil {
			q.log.Error("load frontier failed", "error", err)
		}
		h.NextAt = q.store.Now().Add(idlePause)
		return err
	}
	h.NextAt = q.store.Now()
	if len(h.Unfetched) == 0 {
		h.NextAt = h.NextAt.Add(idlePause)
	}
	return nil
}

// after adds a result to a claimed host and decides when to send the next request.
func (q *queue) after(h *claimedHost, f fetched, duration time.Duration) dispatch.Outcome {
	now := q.store.Now()
	h.Unfetched = h.Unfetched[1:]
	h.LastAttemptAt, h.Slow = now, f.timedOut || duration > slowAfter
	h.DelayMS = f.delay.Milliseconds()
	pause := f.delay
	q.bytes.Add(int64(f.Size()))
	full := h.Add(f.Result)
	q.metrics.fetches.WithLabelValues(f.label()).Inc()
	if f.Unreachable || f.noRobots {
		h.Failures++
		pause = max(pause, min(failPause<<min(h.Failures-1, 10), maxPause))
		if h.Failures >= deadAfter {
			full = q.fail(h, f.Result)
		}
	} else if !f.Refused {
		h.Failures = 0
	}
	pause = max(pause, f.retryAfter)
	h.NextAt = now.Add(pause)
	o := dispatch.Outcome{TimedOut: f.timedOut}
	if full || len(h.Unfetched) == 0 || q.taking.Err() != nil || time.Now().Add(pause).After(h.ends) {
		return o
	}
	o.Step, o.After = dispatch.Retry, pause
	return o
}

// fail fails the remaining entries of a claimed host after many failures, like the last one.
func (q *queue) fail(h *claimedHost, last crawl.Result) (full bool) {
	for _, e := range h.Unfetched {
		r := crawl.Result{
			Entry: e, Status: crawl.EntryFailed, Reason: last.Reason, Unreachable: last.Unreachable, Broken: true,
			LogLine: crawl.FormatLogLine(q.store.Now(), "warn", "not fetched", "error", last.Reason, "url", lastURL(e.URL)),
		}
		q.bytes.Add(int64(r.Size()))
		full = h.Add(r)
	}
	h.Unfetched = nil
	return full
}

// lastURL truncates a URL for the log. It is the last attribute of a line.
func lastURL(u string) string { return models.Truncate(u, 300) }
