package crawl

import (
	"context"
	"errors"
	"slices"

	"linkwatch/models/crawl"
	"linkwatch/models/crawl/archive"
)

type hashed struct {
	Copy
	hash crawl.BodyHash
	new  bool // its body is in the pack
}

// storeAll stores copies: it writes the bodies that the archive does not have as one pack, and
// records the copies. If the pack cannot be stored, one copy fails and the others are requeued.
// pack is empty before and after.
func (a *Archiver) storeAll(ctx context.Context, pack *archive.Pack, copies []Copy) {
	defer a.queue.done(copies)
	defer pack.Reset()
	all, err := a.fill(ctx, pack, copies)
	var stored crawl.StoredPack
	if err == nil && pack.Len() > 0 {
		stored, err = a.put(ctx, pack)
	}
	if err == nil && len(all) > 0 {
		err = a.record(ctx, stored, all)
	}
	_, ofArchive := errors.AsType[*archive.Error](err)
	switch {
	case err == nil:
		a.breaker.unused()
	case errors.Is(err, context.Canceled): // the program stops: run reports the copies that are left
		a.breaker.unused()
		a.requeue(all)
	case ofArchive:
		a.failed(1, reasonOf(err), err)
		tried := slices.IndexFunc(all, func(c hashed) bool { return c.new })
		a.requeue(slices.Delete(all, tried, tried+1))
	default:
		a.failed(len(all), "the database failed", err)
	}
}

// requeue returns copies to the queue.
func (a *Archiver) requeue(all []hashed) {
	copies := make([]Copy, len(all))
	for i, c := range all {
		copies[i] = c.Copy
	}
	a.queue.requeue(copies)
}

// fill adds the bodies that the archive does not have to a pack. It returns the copies that can be
// stored.
func (a *Archiver) fill(ctx context.Context, pack *archive.Pack, copies []Copy) ([]hashed, error) {
	all := make([]hashed, len(copies))
	var unknown []crawl.BodyHash
	for i, c := range copies {
		all[i] = hashed{Copy: c, hash: archive.HashOf(c.Body)}
		if _, ok := a.recent.GetIfPresent(all[i].hash); !ok {
			unknown = append(unknown, all[i].hash)
		}
	}
	has, err := a.store.HaveBodies(ctx, unknown...)
	if err != nil {
		return all, err
	}
	missing := make(map[crawl.BodyHash]bool, len(unknown))
	for _, h := range unknown {
		missing[h] = !has[h]
	}
	valid := all[:0]
	for _, c := range all {
		if missing[c.hash] {
			if err := pack.Add(c.hash, c.Body); err != nil {
				a.lost(1, "failed", "a page is too large")
				continue
			}
			c.new, missing[c.hash] = true, false
		}
		valid = append(valid, c)
	}
	return valid, nil
}

// put stores a pack under a new key.
func (a *Archiver) put(ctx context.Context, pack *archive.Pack) (stored crawl.StoredPack, err error) {
	key := archive.NewKey()
	if stored.Seq, err = a.store.ReservePack(ctx, key, pack.Len()); err != nil {
		return stored, err
	}
	if err = a.archive.Put(ctx, key, pack); err != nil {
		return stored, err
	}
	a.breaker.succeeded()
	a.metrics.storedBytes.Add(float64(pack.Len()))
	stored.Bodies = pack.Bodies()
	return stored, nil
}

// record records a pack and copies. Their bodies are in the pack or already in the archive.
func (a *Archiver) record(ctx context.Context, stored crawl.StoredPack, all []hashed) error {
	rows := make([]crawl.NewCopy, len(all))
	for i, c := range all {
		rows[i] = crawl.NewCopy{Source: c.Source, URL: c.URL, Hash: c.hash, Bytes: len(c.Body), At: c.At}
	}
	lost, err := a.store.RecordCopies(ctx, stored, rows...)
	if err != nil {
		return err
	}
	gone := make(map[crawl.BodyHash]bool, len(lost))
	for _, h := range lost {
		gone[h] = true
		a.recent.Invalidate(h)
	}
	for _, c := range all {
		switch {
		case gone[c.hash]:
			a.lost(1, "dropped", "its body was deleted meanwhile")
			continue
		case c.new:
			a.metrics.copies.WithLabelValues("stored").Inc()
		default:
			a.metrics.copies.WithLabelValues("deduplicated").Inc()
		}
		a.recent.Set(c.hash, struct{}{})
	}
	return nil
}

// reasonOf returns an error of the archive as a text for users.
func reasonOf(err error) string {
	if e, ok := errors.AsType[*archive.Error](err); ok {
		return e.Reason
	}
	return "it is unavailable"
}

// failed counts and logs copies that could not be stored.
func (a *Archiver) failed(n int, reason string, err error) {
	a.metrics.copies.WithLabelValues("failed").Add(float64(n))
	if unsaid, ok := a.mayLog(n); ok {
		a.log.Warn("crawled pages were not archived", "pages", unsaid, "error", err)
	}
	a.breaker.failed(reason)
}
