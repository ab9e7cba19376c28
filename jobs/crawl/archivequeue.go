package crawl

import (
	"context"
	"sync"
	"time"

	"linkwatch/models/crawl/archive"
)

// copyQueue holds copies until they are stored. It is bounded by their number and by
// the memory that their bodies take, in the queue and in work.
type copyQueue struct {
	maxCopies, maxBytes int
	bell                chan struct{} // rings when there are copies, or enough of them

	mu      sync.Mutex
	copies  []Copy
	bytes   int // of all bodies
	waiting int // of the bodies in the queue
	closed  bool
}

func newCopyQueue(maxCopies, maxBytes int) *copyQueue {
	return &copyQueue{maxCopies: maxCopies, maxBytes: maxBytes, bell: make(chan struct{}, 1)}
}

// add takes a copy if there is room.
func (q *copyQueue) add(c Copy) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || len(q.copies) >= q.maxCopies || q.bytes+cap(c.Body) > q.maxBytes {
		return false
	}
	q.bytes += cap(c.Body)
	q.waiting += cap(c.Body)
	q.copies = append(q.copies, c)
	if len(q.copies) == 1 || len(q.copies) >= archiveBatch || q.waiting >= archive.MaxPack {
		q.ring()
	}
	return true
}

func (q *copyQueue) ring() {
	select {
	case q.bell <- struct{}{}:
	default:
	}
}

// wait waits for a copy. It is false once ctx has ended and the queue is empty. Only the
// caller of take may call it.
func (q *copyQueue) wait(ctx context.Context) bool {
	for {
		if waiting, _ := q.fills(1); waiting || ctx.Err() != nil {
			return waiting
		}
		select {
		case <-ctx.Done():
		case <-q.bell:
		}
	}
}

// take waits for copies and returns up to n of them, the oldest first, with at most
// archive.MaxPack bytes together or one alone. Without that many it waits for more, for
// the time gather. It returns none once ctx has ended and the queue is empty. It has one
// caller at a time.
func (q *copyQueue) take(ctx context.Context, n int, gather time.Duration) []Copy {
	var gathered <-chan time.Time // nil = no copy waits yet
	for {
		waiting, full := q.fills(n)
		if full || ctx.Err() != nil {
			return q.pop(n)
		}
		if waiting && gathered == nil {
			gathered = time.After(gather)
		}
		select {
		case <-ctx.Done():
		case <-q.bell:
		case <-gathered:
			return q.pop(n)
		}
	}
}

// fills says whether copies wait, and whether they fill a batch of n.
func (q *copyQueue) fills(n int) (waiting, full bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.copies) > 0, len(q.copies) >= n || q.waiting >= archive.MaxPack
}

func (q *copyQueue) pop(n int) []Copy {
	q.mu.Lock()
	defer q.mu.Unlock()
	var some []Copy
	bytes := 0
	for _, c := range q.copies[:min(n, len(q.copies))] {
		if bytes += cap(c.Body); bytes > archive.MaxPack && len(some) > 0 {
			break
		}
		some = append(some, c)
		q.waiting -= cap(c.Body)
	}
	clear(q.copies[:len(some)]) // so that their bodies are freed
	q.copies = q.copies[len(some):]
	return some
}

// putBack returns copies that were taken, as the oldest. They take their room again.
func (q *copyQueue) putBack(copies []Copy) {
	if len(copies) == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.copies = append(append([]Copy(nil), copies...), q.copies...)
	for _, c := range copies {
		q.bytes += cap(c.Body)
		q.waiting += cap(c.Body)
	}
	q.ring()
}

// done frees the room of copies that were taken.
func (q *copyQueue) done(copies []Copy) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range copies {
		q.bytes -= cap(c.Body)
	}
}

// close drops all copies, takes no more, and returns how many it dropped.
func (q *copyQueue) close() (dropped int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	dropped, q.closed = len(q.copies), true
	q.bytes -= q.waiting
	q.copies, q.waiting = nil, 0
	return dropped
}

// size is how many copies wait, and the memory that all take.
func (q *copyQueue) size() (copies, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.copies), q.bytes
}

const (
	breakAfter = 5  // failures in a row
	maxPauses  = 16 // the longest pause, in first ones
)

// breaker decides how much is tried. After breakAfter failures in a row there is a
// pause, and after it one attempt alone; if that fails too, the next pause is longer.
type breaker struct {
	pause time.Duration

	mu       sync.Mutex
	failures int
	next     time.Duration // the next pause
	until    time.Time
	probing  bool // one attempt is under way after a pause
	reason   string
	since    time.Time
}

// allow is how many copies may be tried now, up to most; if none, how long to wait.
func (b *breaker) allow(most int) (n int, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < breakAfter {
		return most, 0
	}
	if wait := time.Until(b.until); wait > 0 {
		return 0, wait
	}
	if b.probing {
		return 0, b.pause
	}
	b.probing = true
	return 1, 0
}

// unused ends an attempt that has not shown whether the archive works.
func (b *breaker) unused() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}

// succeeded ends what failed before.
func (b *breaker) succeeded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures, b.probing, b.next, b.reason = 0, false, 0, ""
}

// failed counts a failure. With too many in a row there is a pause.
func (b *breaker) failed(reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.reason == "" {
		b.since = now
	}
	b.reason = reason
	if b.failures++; b.failures < breakAfter {
		return
	}
	b.probing = false
	if now.After(b.until) { // else it failed beside others
		b.next = min(max(2*b.next, b.pause), maxPauses*b.pause)
		b.until = now.Add(b.next)
	}
}

// state is why the archive failed last, "" = it works, and since when.
func (b *breaker) state() (reason string, since time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reason, b.since
}
