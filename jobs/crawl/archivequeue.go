package crawl

import (
	"context"
	"sync"
	"time"

	"linkwatch/models/crawl/archive"
)

// copyQueue holds copies until they are stored. It limits the number of copies, and the memory of
// their bodies, both queued and being stored.
type copyQueue struct {
	maxCopies, maxBytes int
	ready               chan struct{} // signals that there are copies, or enough for a batch

	mu      sync.Mutex
	copies  []Copy
	bytes   int // of all bodies, queued and being stored
	waiting int // of the queued bodies
	closed  bool
}

func newCopyQueue(maxCopies, maxBytes int) *copyQueue {
	return &copyQueue{maxCopies: maxCopies, maxBytes: maxBytes, ready: make(chan struct{}, 1)}
}

// add adds a copy. It reports whether there was room.
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
		q.signal()
	}
	return true
}

func (q *copyQueue) signal() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// wait waits for a copy. It returns false when ctx is done and the queue is empty. Only the
// caller of take may call it.
func (q *copyQueue) wait(ctx context.Context) bool {
	for {
		if waiting, _ := q.fills(1); waiting || ctx.Err() != nil {
			return waiting
		}
		select {
		case <-ctx.Done():
		case <-q.ready:
		}
	}
}

// take waits for copies and returns up to n of them, oldest first, with at most archive.MaxPack
// bytes in total or a single larger one. If there are fewer, it waits up to gather for more. It
// returns none when ctx is done and the queue is empty. It must not be called concurrently.
func (q *copyQueue) take(ctx context.Context, n int, gather time.Duration) []Copy {
	var gathered <-chan time.Time // nil = the queue is empty
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
		case <-q.ready:
		case <-gathered:
			return q.pop(n)
		}
	}
}

// fills reports whether the queue has copies, and whether it has a full batch of n.
func (q *copyQueue) fills(n int) (waiting, full bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.copies) > 0, len(q.copies) >= n || q.waiting >= archive.MaxPack
}

func (q *copyQueue) pop(n int) []Copy {
	q.mu.Lock()
	defer q.mu.Unlock()
	var batch []Copy
	bytes := 0
	for _, c := range q.copies[:min(n, len(q.copies))] {
		if bytes += cap(c.Body); bytes > archive.MaxPack && len(batch) > 0 {
			break
		}
		batch = append(batch, c)
		q.waiting -= cap(c.Body)
	}
	clear(q.copies[:len(batch)]) // free the bodies
	q.copies = q.copies[len(batch):]
	return batch
}

// requeue returns taken copies to the front of the queue.
func (q *copyQueue) requeue(copies []Copy) {
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
	q.signal()
}

// done frees the room of taken copies.
func (q *copyQueue) done(copies []Copy) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range copies {
		q.bytes -= cap(c.Body)
	}
}

// close closes the queue and returns how many copies it dropped.
func (q *copyQueue) close() (dropped int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	dropped, q.closed = len(q.copies), true
	q.bytes -= q.waiting
	q.copies, q.waiting = nil, 0
	return dropped
}

// size returns the number of queued copies, and the memory of all bodies in bytes.
func (q *copyQueue) size() (copies, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.copies), q.bytes
}

const (
	breakAfter = 5  // consecutive failures
	maxPauses  = 16 // longest pause, as a multiple of the first one
)

// breaker is a circuit breaker. After breakAfter consecutive failures it pauses, then allows a
// single attempt. If that fails too, the next pause is twice as long.
type breaker struct {
	pause time.Duration

	mu       sync.Mutex
	failures int
	next     time.Duration // the next pause
	until    time.Time
	probing  bool // the attempt after a pause is running
	reason   string
	since    time.Time
}

// allow returns how many copies may be tried now, up to most. If none, it returns how long to wait.
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

// unused ends an attempt without a result.
func (b *breaker) unused() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}

func (b *breaker) succeeded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures, b.probing, b.next, b.reason = 0, false, 0, ""
}

// failed counts a failure, and starts a pause after too many.
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
	if now.After(b.until) { // else another failure has started this pause
		b.next = min(max(2*b.next, b.pause), maxPauses*b.pause)
		b.until = now.Add(b.next)
	}
}

// state returns the last error of the archive and the time of the first; "" = it works.
func (b *breaker) state() (reason string, since time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reason, b.since
}
