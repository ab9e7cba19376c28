package crawl

import (
	"context"
	"errors"

	"linkwatch/models/crawl"
	"linkwatch/models/crawl/archive"
)

// hashed is a copy with the hash of its body.
type hashed struct {
	Copy
	hash crawl.BodyHash
	new  bool // its body was stored now
}

// storeAll stores copies: it reserves their bodies, stores those that the archive does
// not have, and records the copies. When the archive begins to fail, the copies that
// were not tried go back to the queue.
func (a *Archiver) storeAll(ctx context.Context, copies []Copy) {
	all := make([]hashed, len(copies))
	var unknown []crawl.BodyHash
	for i, c := range copies {
		all[i] = hashed{Copy: c, hash: archive.HashOf(c.Body)}
		if _, ok := a.recent.GetIfPresent(all[i].hash); !ok {
			unknown = append(unknown, all[i].hash)
		}
	}
	stored := map[crawl.BodyHash]bool{}
	if len(unknown) > 0 {
		var err error
		if stored, err = a.store.ReserveBodies(ctx, unknown...); err != nil {
			a.failed(len(copies), "the database failed", err)
			a.queue.done(copies)
			return
		}
	}
	known := make(map[crawl.BodyHash]bool, len(all))
	for _, h := range unknown {
		known[h] = stored[h]
	}
	var kept []hashed
	for i, c := range all {
		there, asked := known[c.hash]
		_, mine := stored[c.hash]
		switch {
		case !asked || there: // it is in the archive
		case !mine:
			a.lost(1, "dropped", "its body is being deleted")
			continue
		default:
			n, err := a.archive.Put(ctx, c.hash, c.Body)
			if err != nil {
				if more := a.putFailed(err); !more {
					a.record(ctx, kept)
					a.queue.done(copies[:i+1])
					a.queue.putBack(copies[i+1:])
					return
				}
				continue
			}
			a.breaker.succeeded()
			a.metrics.storedBytes.Add(float64(n))
			known[c.hash], c.new = true, true
		}
		kept = append(kept, c)
	}
	a.record(ctx, kept)
	a.queue.done(copies)
}

// record records copies whose bodies are in the archive.
func (a *Archiver) record(ctx context.Context, kept []hashed) {
	if len(kept) == 0 {
		a.breaker.unused()
		return
	}
	rows := make([]crawl.NewCopy, len(kept))
	for i, c := range kept {
		rows[i] = crawl.NewCopy{Source: c.Source, URL: c.URL, Hash: c.hash, Bytes: len(c.Body), At: c.At, Stored: c.new}
	}
	lost, err := a.store.RecordCopies(ctx, rows...)
	if err != nil {
		a.failed(len(kept), "the database failed", err)
		return
	}
	gone := make(map[crawl.BodyHash]bool, len(lost))
	for _, h := range lost {
		gone[h] = true
		a.recent.Invalidate(h)
	}
	for _, c := range kept {
		switch {
		case gone[c.hash]:
			a.lost(1, "dropped", "its body is being deleted")
			continue
		case c.new:
			a.metrics.copies.WithLabelValues("stored").Inc()
		default:
			a.metrics.copies.WithLabelValues("deduplicated").Inc()
		}
		a.recent.Set(c.hash, struct{}{})
	}
	a.breaker.unused()
}

// putFailed notes that a body could not be stored. more says that others may be tried.
func (a *Archiver) putFailed(err error) (more bool) {
	switch {
	case errors.Is(err, archive.ErrTooLarge):
		a.lost(1, "failed", "a page is too large")
		return true
	case errors.Is(err, context.Canceled):
		a.lost(1, "dropped", "the program stops")
		return false
	}
	return !a.failed(1, reasonOf(err), err)
}

// reasonOf is an error of the archive in words that may be shown.
func reasonOf(err error) string {
	if e, ok := errors.AsType[*archive.Error](err); ok {
		return e.Reason
	}
	return "it cannot be used"
}

// failed notes that copies could not be stored. open says that the archiver pauses.
func (a *Archiver) failed(n int, reason string, err error) (open bool) {
	a.metrics.copies.WithLabelValues("failed").Add(float64(n))
	if unsaid, ok := a.mayLog(n); ok {
		a.log.Warn("crawled pages were not archived", "pages", unsaid, "error", err)
	}
	return a.breaker.failed(reason)
}
