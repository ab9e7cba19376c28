package crawl

import (
	"context"
	"sync"
	"time"
)

// copyQueue holds copies until they are stored. It is bounded by their number and by
// the memory that their bodies take, in the queue and in work.
type copyQueue struct {
	maxCopies, maxBytes int
	bell                chan struct{} // rings when there may be copies

	mu     sync.Mutex
	copies []Copy
	bytes  int
	closed bool
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
	q.copies = append(q.copies, c)
	q.ring()
	return true
}

func (q *copyQueue) ring() {
	select {
	case q.bell <- struct{}{}:
	default:
	}
}

// take waits for copies and returns up to n of them, the oldest first. It returns none
// once ctx has ended and the queue is empty.
func (q *copyQueue) take(ctx context.Context, n int) []Copy {
	for {
		if q.len() < n && ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-q.bell:
				if q.len() < n {
					rest(ctx, archiveGather)
				}
			}
		}
		if some := q.pop(n); len(some) > 0 || ctx.Err() != nil {
			return some
		}
	}
}

func (q *copyQueue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.copies)
}

func (q *copyQueue) pop(n int) []Copy {
	q.mu.Lock()
	defer q.mu.Unlock()
	n = min(n, len(q.copies))
	some := append([]Copy(nil), q.copies[:n]...)
	clear(q.copies[:n]) // so that their bodies are freed
	if q.copies = q.copies[n:]; len(q.copies) > 0 {
		q.ring() // for the next worker
	}
	return some
}

// putBack returns copies that were taken, as the oldest.
func (q *copyQueue) putBack(copies []Copy) {
	if len(copies) == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.copies = append(append([]Copy(nil), copies...), q.copies...)
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
	for _, c := range q.copies {
		q.bytes -= cap(c.Body)
	}
	q.copies = nil
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

// failed counts a failure. open says that there is a pause now.
func (b *breaker) failed(reason string) (open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.reason == "" {
		b.since = now
	}
	b.reason = reason
	if b.failures++; b.failures < breakAfter {
		return false
	}
	b.probing = false
	if now.After(b.until) { // else it failed beside others
		b.next = min(max(2*b.next, b.pause), maxPauses*b.pause)
		b.until = now.Add(b.next)
	}
	return true
}

// state is why the archive failed last, "" = it works, and since when.
func (b *breaker) state() (reason string, since time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reason, b.since
}
