// Package crawl runs crawls: it starts jobs that are due, fetches the URLs of the
// frontier and ends executions. What a crawl means is decided in models/crawl, and
// how many requests run at a time in jobs/dispatch.
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

// queue is the dispatch.Queue of hosts that have URLs in the frontier. An item is a
// turn: a host that this instance has claimed, and what it fetched there so far. Each
// attempt fetches one URL, and a pause between two requests is a retry after a time.
type queue struct {
	store   *crawl.Store
	client  *outbound.Client
	robots  *outbound.Robots // nil: robots.txt is not asked
	opts    Options
	log     *slog.Logger
	watch   *watch
	metrics *metrics
	held    int             // hosts that are claimed; of the store's goroutine
	bytes   atomic.Int64    // that results in memory take, about
	taking  context.Context // of the run: no new request begins after it
}

// turn is a claimed host on its way to be stored.
type turn struct {
	crawl.Turn
	loaded bool
	stored bool
	ends   time.Time // by when others may have the host
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
		turns[i] = &turn{Turn: crawl.Turn{Host: h}, last: h}
	}
	wait := max(0, next.Sub(q.store.Now().Time))
	switch {
	case next.IsZero():
		wait = -1
	case len(turns) == 0: // those that are due are others' share
		wait = max(wait, shareWait)
	}
	return turns, wait, nil
}

// shareWait is between two looks of an instance that has its share of the hosts.
const shareWait = 200 * time.Millisecond

// maxHosts is how many hosts an instance holds at most: four for each worker, since most
// wait for their pause. Each has some URLs and results in memory.
func maxHosts(workers int) int { return min(max(512, 4*workers), 4096) }

// Finish implements dispatch.Queue.
func (q *queue) Finish(ctx context.Context, done []*turn) error {
	return q.record(ctx, done)
}

// recordBytes is how much one transaction stores at most, about, unless a single turn
// has more.
const recordBytes = 4 << 20

// record stores turns, in several transactions if they hold much. If it fails, it is
// called again with all of them: the store passes over those that it has.
func (q *queue) record(ctx context.Context, turns []*turn) error {
	for len(turns) > 0 {
		n, bytes := 1, turns[0].Bytes
		for n < len(turns) && bytes+turns[n].Bytes <= recordBytes {
			bytes += turns[n].Bytes
			n++
		}
		some := make([]*crawl.Turn, n)
		for i, t := range turns[:n] {
			some[i] = &t.Turn
		}
		err := q.store.Record(ctx, some...)
		if err != nil && !models.DatabaseDown(err) && ctx.Err() == nil {
			err = q.recordOne(ctx, some)
		}
		if err != nil {
			return err
		}
		q.stored(turns[:n])
		turns = turns[n:]
	}
	return nil
}

// recordOne stores turns one by one, after a transaction of all of them failed though
// the database works. What cannot be stored must not hold up the rest: its URLs fail.
func (q *queue) recordOne(ctx context.Context, turns []*crawl.Turn) error {
	for _, t := range turns {
		err := q.store.Record(ctx, t)
		if err == nil {
			continue
		}
		if models.DatabaseDown(err) || ctx.Err() != nil {
			return err
		}
		q.log.Error("results of a crawl cannot be stored", "host", t.Host.Host, "error", err)
		failed := *t
		failed.Results = nil
		for _, r := range t.Results {
			failed.Results = append(failed.Results, crawl.Result{
				Entry: r.Entry, Status: crawl.EntryFailed, Reason: "could not be stored",
				Line: crawl.LogLine(q.store.Now(), "error", "could not be stored", "url", lastURL(r.Entry.URL)),
			})
		}
		if err := q.store.Record(ctx, &failed); err != nil {
			return err
		}
	}
	return nil
}

// stored forgets turns that are not in memory any more.
func (q *queue) stored(turns []*turn) {
	for _, t := range turns {
		if !t.stored {
			t.stored = true
			q.held = max(0, q.held-1)
			q.bytes.Add(-int64(t.Bytes))
		}
	}
}

// Release implements dispatch.Queue. What was fetched in a turn that is broken off
// is stored.
func (q *queue) Release(ctx context.Context, back []lease.Released[*turn]) error {
	turns := make([]*turn, len(back))
	for i, b := range back {
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
	q.bytes.Store(bytes) // what was forgotten with a lost lease is not counted any more
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
	slowAfter   = time.Second      // a request that takes longer makes its host slow
	idlePause   = 5 * time.Second  // until a host is looked at again whose entries wait for their crawl
	failPause   = time.Second      // after a failure; doubles with each one in a row
	maxPause    = 15 * time.Second // of those
	deadAfter   = 8                // failures in a row after which the next URLs of the host fail unasked
	maxAttempts = 3                // of an entry
)

// maxBytes is how much memory results may take before no further page is fetched, about.
// Ordinary pages take some kilobytes, and the store has them within a second.
const (
	maxBytes = 32 << 20
	fullWait = 100 * time.Millisecond
)

// Try implements dispatch.Queue: one request of a turn.
func (q *queue) Try(ctx context.Context, t *turn) dispatch.Outcome {
	if !t.loaded {
		if err := q.load(ctx, t); err != nil || len(t.Left) == 0 {
			return dispatch.Outcome{}
		}
	}
	e := t.Left[0]
	holder, held, _ := q.opts.Lease.Current()
	if holder != t.ClaimedBy { // others may have the host
		return dispatch.Outcome{Step: dispatch.Release}
	}
	during, going := q.watch.during(ctx, e.CrawlSeq)
	defer going.done()
	defer context.AfterFunc(held, going.leave)() //nolint:contextcheck // held is that of the lease
	if q.bytes.Load() > maxBytes && q.taking.Err() == nil {
		if t.Bytes == 0 {
			return dispatch.Outcome{Step: dispatch.Retry, After: fullWait}
		}
		t.NextAt = q.store.Now()
		return dispatch.Outcome{}
	}
	if q.taking.Err() != nil || going.ended() {
		t.NextAt = q.store.Now()
		return dispatch.Outcome{}
	}
	began := time.Now()
	f := q.fetch(during, e)
	took := time.Since(began)
	switch {
	case ctx.Err() != nil && f.cut: // the program stops, or the lease is lost
		t.NextAt = q.store.Now().Add(f.delay)
		return dispatch.Outcome{Step: dispatch.Release}
	case f.cut: // the crawl was cancelled
		t.NextAt = q.store.Now().Add(f.delay)
		return dispatch.Outcome{}
	case f.wait > 0: // nothing was sent, but for robots.txt
		t.NextAt = q.store.Now().Add(f.wait)
		if time.Now().Add(f.wait).Before(t.ends) {
			return dispatch.Outcome{Step: dispatch.Retry, After: f.wait}
		}
		return dispatch.Outcome{}
	}
	return q.after(t, f, took)
}

// load gives a turn its entries.
func (q *queue) load(ctx context.Context, t *turn) (err error) {
	t.loaded, t.ends = true, time.Now().Add(crawl.TurnTime)
	n := crawl.TurnEntries
	if t.DelayMS > 0 {
		n = 1 + int(crawl.TurnTime.Milliseconds()/t.DelayMS)
	}
	if t.Left, err = q.store.Load(ctx, t.Host, n); err != nil {
		if ctx.Err() == nil {
			q.log.Error("loading URLs to crawl failed", "error", err)
		}
		t.NextAt = q.store.Now().Add(idlePause)
		return err
	}
	t.NextAt = q.store.Now()
	if len(t.Left) == 0 {
		t.NextAt = t.NextAt.Add(idlePause)
	}
	return nil
}

// after adds a result to a turn, and decides how it goes on.
func (q *queue) after(t *turn, f fetched, took time.Duration) dispatch.Outcome {
	now := q.store.Now()
	t.Left = t.Left[1:]
	t.TriedAt, t.Slow = now, f.timedOut || took > slowAfter
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
	if full || len(t.Left) == 0 || q.taking.Err() != nil || time.Now().Add(pause).After(t.ends) {
		return o
	}
	o.Step, o.After = dispatch.Retry, pause
	return o
}

// fail gives the entries of a turn up whose host was not reached many times in a row.
func (q *queue) fail(t *turn, reason string) (full bool) {
	for _, e := range t.Left {
		r := crawl.Result{Entry: e, Status: crawl.EntryFailed, Reason: reason, Broken: true, Line: crawl.LogLine(q.store.Now(), "warn", "not fetched", "error", reason, "url", lastURL(e.URL))}
		q.bytes.Add(int64(r.Size()))
		full = t.Add(r)
	}
	t.Left = nil
	return full
}

// lastURL is a URL without what follows a limit, for the log.
func lastURL(u string) string { return models.Truncate(u, 300) }
