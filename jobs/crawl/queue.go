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

// queue is the dispatch.Queue of hosts with URLs in the frontier. An item is a turn: a claimed host
// and its results so far. Each attempt fetches one URL. The delay between two requests is a
// retry of the dispatcher.
type queue struct {
	store   *crawl.Store
	client  *outbound.Client
	robots  *outbound.Robots // nil = robots.txt is ignored
	opts    Options
	log     *slog.Logger
	watch   *watch
	metrics *metrics
	held    int             // number of claimed hosts; used only by the goroutine that claims
	bytes   atomic.Int64    // approximate memory of results
	taking  context.Context // done = send no new requests
}

// turn is a claimed host with its results.
type turn struct {
	crawl.HostBatch
	loaded bool
	stored bool
	ends   time.Time // when the claim of the host expires
	last   crawl.Host
}

// Claim implements dispatch.Queue.
func (q *queue) Claim(ctx context.Context, holder lease.ID, n int) ([]*turn, time.Duration, error) {
	hosts, next, err := q.store.ClaimHosts(ctx, holder, min(n, maxHosts(q.opts.Workers)-q.held), q.held)
	if err != nil {
		return nil, 0, err
	}
	q.held += len(hosts)
	turns := make([]*turn, len(hosts))
	for i, h := range hosts {
		turns[i] = &turn{HostBatch: crawl.HostBatch{Host: h}, last: h}
	}
	wait := max(0, next.Sub(q.store.Now().Time))
	switch {
	case next.IsZero():
		wait = -1
	case len(turns) == 0: // the due hosts are the share of other instances
		wait = max(wait, shareWait)
	}
	return turns, wait, nil
}

// shareWait is the poll interval of an instance that holds its share of the hosts.
const shareWait = 200 * time.Millisecond

// maxHosts returns the maximum number of hosts that an instance holds: four per worker, because most
// hosts are between two requests. Each host has URLs and results in memory.
func maxHosts(workers int) int { return min(max(512, 4*workers), 4096) }

// Finish implements dispatch.Queue.
func (q *queue) Finish(ctx context.Context, done []*turn) error {
	return q.record(ctx, done)
}

// recordBytes is the approximate maximum size of a transaction, unless a single turn is larger.
const recordBytes = 4 << 20

// record stores turns, in several transactions if they are large. If it fails, it is called again
// with all turns: the store ignores turns that are stored already.
func (q *queue) record(ctx context.Context, turns []*turn) error {
	for len(turns) > 0 {
		n, bytes := 1, turns[0].Bytes
		for n < len(turns) && bytes+turns[n].Bytes <= recordBytes {
			bytes += turns[n].Bytes
			n++
		}
		batch := make([]*crawl.HostBatch, n)
		for i, t := range turns[:n] {
			batch[i] = &t.HostBatch
		}
		err := q.store.Record(ctx, batch...)
		if err != nil && !models.DatabaseDown(err) && ctx.Err() == nil {
			err = q.recordEach(ctx, batch)
		}
		if err != nil {
			return err
		}
		q.stored(turns[:n])
		turns = turns[n:]
	}
	return nil
}

// recordEach stores turns one by one after a transaction with all of them has failed although the
// database works. A turn that cannot be stored must not block the others: its URLs fail.
func (q *queue) recordEach(ctx context.Context, turns []*crawl.HostBatch) error {
	for _, t := range turns {
		err := q.store.Record(ctx, t)
		if err == nil {
			continue
		}
		if models.DatabaseDown(err) || ctx.Err() != nil {
			return err
		}
		q.log.Error("store crawl results failed", "host", t.Host.Host, "error", err)
		failed := *t
		failed.Results = nil
		for _, r := range t.Results {
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

// stored updates the counters after turns were stored.
func (q *queue) stored(turns []*turn) {
	for _, t := range turns {
		if !t.stored {
			t.stored = true
			q.held = max(0, q.held-1)
			q.bytes.Add(-int64(t.Bytes))
		}
	}
}

// Release implements dispatch.Queue. It stores the results of interrupted turns.
func (q *queue) Release(ctx context.Context, items []lease.Released[*turn]) error {
	turns := make([]*turn, len(items))
	for i, b := range items {
		t := b.Item
		if at := q.store.Now().Add(b.After); at.After(t.NextAt.Time) || !t.loaded {
			t.NextAt = at
		}
		turns[i] = t
	}
	return q.record(ctx, turns)
}

// ReleaseOthers implements dispatch.Queue.
func (q *queue) ReleaseOthers(ctx context.Context, holder lease.ID, keep []*turn) error {
	hosts, bytes := make([]crawl.Host, len(keep)), int64(0)
	for i, t := range keep {
		hosts[i] = t.Host
		bytes += int64(t.Bytes)
	}
	if err := q.store.ReleaseOtherHosts(ctx, holder, hosts); err != nil {
		return err
	}
	q.held = len(keep)
	q.bytes.Store(bytes) // turns of a lost lease no longer count
	return nil
}

// Host implements dispatch.Queue.
func (*queue) Host(t *turn) string { return t.Host.Host }

// Due implements dispatch.Queue.
func (*queue) Due(t *turn) time.Time { return t.last.NextAt.Time }

// Slow implements dispatch.Queue.
func (*queue) Slow(t *turn) bool { return t.last.Slow }

// Tried implements dispatch.Queue.
func (*queue) Tried(t *turn) time.Time { return t.last.TriedAt.Time }

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

// Try implements dispatch.Queue. It sends one request of a turn.
func (q *queue) Try(ctx context.Context, t *turn) dispatch.Outcome {
	if !t.loaded {
		if err := q.load(ctx, t); err != nil || len(t.Unfetched) == 0 {
			return dispatch.Outcome{}
		}
	}
	e := t.Unfetched[0]
	holder, held, _ := q.opts.Lease.Current()
	if holder != t.ClaimedBy { // another instance may have claimed the host
		return dispatch.Outcome{Step: dispatch.Release}
	}
	requestCtx, running := q.watch.during(ctx, e.CrawlSeq)
	defer running.done()
	defer context.AfterFunc(held, running.leave)() //nolint:contextcheck // held is the context of the lease
	if q.bytes.Load() > maxBytes && q.taking.Err() == nil {
		if t.Bytes == 0 {
			return dispatch.Outcome{Step: dispatch.Retry, After: fullWait}
		}
		t.NextAt = q.store.Now()
		return dispatch.Outcome{}
	}
	if q.taking.Err() != nil || running.ended() {
		t.NextAt = q.store.Now()
		return dispatch.Outcome{}
	}
	started := time.Now()
	f := q.fetch(requestCtx, e)
	duration := time.Since(started)
	switch {
	case ctx.Err() != nil && f.cut: // the program stops, or the lease is lost
		t.NextAt = q.store.Now().Add(f.delay)
		return dispatch.Outcome{Step: dispatch.Release}
	case f.cut: // the crawl was cancelled
		t.NextAt = q.store.Now().Add(f.delay)
		return dispatch.Outcome{}
	case f.wait > 0: // at most robots.txt was requested
		t.NextAt = q.store.Now().Add(f.wait)
		if time.Now().Add(f.wait).Before(t.ends) {
			return dispatch.Outcome{Step: dispatch.Retry, After: f.wait}
		}
		return dispatch.Outcome{}
	}
	return q.after(t, f, duration)
}

// load loads the entries of a turn.
func (q *queue) load(ctx context.Context, t *turn) (err error) {
	t.loaded, t.ends = true, time.Now().Add(crawl.MaxClaimTime)
	n := crawl.MaxBatchEntries
	if t.DelayMS > 0 {
		n = 1 + int(crawl.MaxClaimTime.Milliseconds()/t.DelayMS)
	}
	if t.Unfetched, err = q.store.LoadEntries(ctx, t.Host, n); err != nil {
		if ctx.Err() == nil {
			q.log.Error("load frontier failed", "error", err)
		}
		t.NextAt = q.store.Now().Add(idlePause)
		return err
	}
	t.NextAt = q.store.Now()
	if len(t.Unfetched) == 0 {
		t.NextAt = t.NextAt.Add(idlePause)
	}
	return nil
}

// after adds a result to a turn and decides when to send the next request.
func (q *queue) after(t *turn, f fetched, duration time.Duration) dispatch.Outcome {
	now := q.store.Now()
	t.Unfetched = t.Unfetched[1:]
	t.TriedAt, t.Slow = now, f.timedOut || duration > slowAfter
	t.DelayMS = f.delay.Milliseconds()
	pause := f.delay
	q.bytes.Add(int64(f.Size()))
	full := t.Add(f.Result)
	q.metrics.fetches.WithLabelValues(f.label()).Inc()
	if f.unreachable {
		t.Failures++
		pause = max(pause, min(failPause<<min(t.Failures-1, 10), maxPause))
		if t.Failures >= deadAfter {
			full = q.fail(t, f.Reason)
		}
	} else if !f.Refused {
		t.Failures = 0
	}
	pause = max(pause, f.retryAfter)
	t.NextAt = now.Add(pause)
	o := dispatch.Outcome{TimedOut: f.timedOut}
	if full || len(t.Unfetched) == 0 || q.taking.Err() != nil || time.Now().Add(pause).After(t.ends) {
		return o
	}
	o.Step, o.After = dispatch.Retry, pause
	return o
}

// fail fails the remaining entries of a turn after its host was unreachable many times.
func (q *queue) fail(t *turn, reason string) (full bool) {
	for _, e := range t.Unfetched {
		r := crawl.Result{Entry: e, Status: crawl.EntryFailed, Reason: reason, Broken: true, LogLine: crawl.FormatLogLine(q.store.Now(), "warn", "not fetched", "error", reason, "url", lastURL(e.URL))}
		q.bytes.Add(int64(r.Size()))
		full = t.Add(r)
	}
	t.Unfetched = nil
	return full
}

// lastURL truncates a URL for the log. It is the last attribute of a line.
func lastURL(u string) string { return models.Truncate(u, 300) }
