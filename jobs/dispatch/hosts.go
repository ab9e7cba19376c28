package dispatch

import (
	"cmp"
	"container/list"
	"slices"
	"time"

	"linkwatch/models/lease"
)

const (
	// maxPerHost is the number of waiting items of one host in memory, so that a host with many items leaves room
	// for others. Slow items and quick ones may use half of them each, more only if the others leave room.
	maxPerHost = 32
	// slowAfter is the duration of an attempt from which on a host counts as slow.
	slowAfter = time.Second
	// firstPace is the estimated duration of an item on a host without attempts.
	firstPace = 20 * time.Millisecond
)

// class is a class of hosts, by their next item. Slow hosts share at most half of the workers, so that responsive
// hosts do not wait for hosts that hang. When a quick host times out, others may have started to hang too: hosts not
// tried since are unsure, and leave some workers to the rest.
type class int

const (
	quick   class = iota // neither unsure nor slow
	unsure               // not tried since the start of an attempt on a quick host that timed out
	slow                 // the last attempt on the item or host took longer than slowAfter, or timed out
	classes              // the number of classes
)

// entry is a claimed item in memory.
type entry[T any] struct {
	item    T
	holder  lease.ID // the lease it was claimed under
	host    *host[T]
	slow    bool      // its last attempt was slow, possibly before it was claimed
	class   class     // of the attempt in progress
	start   time.Time // of its first attempt; zero: none yet
	retryAt time.Time // of the next retry
}

// host is the state of a host while an item of it is in memory.
type host[T any] struct {
	name string
	// class is slow if the last attempt on an item that was not slow before was. An item that is slow each time tells
	// nothing about the other items of its host.
	class   class
	tried   time.Time     // the end of the last attempt; zero: none while it is in memory
	line    []*entry[T]   // waiting items, the longest overdue first
	busy    []*entry[T]   // in progress, waiting for a retry, or ready for one
	retries []*entry[T]   // those of busy that are ready for a retry
	turn    time.Time     // the end of the last slow item: quick items that were due by then precede the next slow one
	ready   *list.Element // its element in hosts.ready; nil: none of its items is ready
	in      class         // the class of that list
	pace    time.Duration // the average duration of an item
	booked  time.Time     // released items are scheduled until this time
}

// hosts holds the waiting items by host. One goroutine owns it. A host is removed with its last item.
type hosts[T any] struct {
	queue    Queue[T]
	first    func(T) bool  // see Prioritizer; nil: no item is first
	perHost  int           // the largest number of items of a host in progress
	room     int           // the largest number of waiting items; slow ones may use half of it
	maxDelay time.Duration // see Options
	byName   map[string]*host[T]
	ready    [classes]list.List // of *host: hosts with an item that is ready, in turn
	waiting  int                // waiting items
	slow     int                // waiting items that are slow or whose host is
	busy     int                // items in progress
	trouble  time.Time          // hosts not tried since are unsure; zero: no host is
}

// add appends an item to the queue of its host. If the host, or slow hosts in total, have too many items, it
// returns in out the entry to release, and in after for how long.
func (q *hosts[T]) add(e *entry[T], now time.Time) (out *entry[T], after time.Duration) {
	name := q.queue.Host(e.item)
	h := q.byName[name]
	if h == nil {
		h = &host[T]{name: name, pace: firstPace}
		q.byName[name] = h
	}
	e.host, e.slow = h, q.queue.Slow(e.item)
	if (e.slow || h.class == slow) && q.slow >= q.room/2 && !q.isFirst(e) {
		q.forget(h)
		return e, q.maxDelay
	}
	due := q.queue.Due(e.item)
	at, _ := slices.BinarySearchFunc(h.line, due, func(a *entry[T], due time.Time) int {
		if q.queue.Due(a.item).After(due) {
			return 1
		}
		return -1 // behind items with the same due time
	})
	h.line = slices.Insert(h.line, at, e)
	q.count(e, 1)
	if h.ready == nil {
		q.offer(h, false)
	}
	if len(h.line) <= maxPerHost {
		return nil, 0
	}
	at = q.surplus(h)
	out = h.line[at]
	h.line = slices.Delete(h.line, at, at+1)
	q.count(out, -1)
	return out, q.book(h, now)
}

// surplus returns the position of the item of a host to release: the last one of those that have more than their
// half of the places.
func (q *hosts[T]) surplus(h *host[T]) int {
	hanging := 0
	for _, e := range h.line {
		if e.slow {
			hanging++
		}
	}
	for i, e := range slices.Backward(h.line) {
		if e.slow == (hanging > maxPerHost/2) && !q.isFirst(e) {
			return i
		}
	}
	return len(h.line) - 1
}

func (q *hosts[T]) isFirst(e *entry[T]) bool { return q.first != nil && q.first(e.item) }

// book returns when an item without room in memory is due again: after the waiting items of its host, and after
// items released before. So released items return no faster than the host can serve them.
func (q *hosts[T]) book(h *host[T], now time.Time) time.Duration {
	pace := h.pace / time.Duration(q.perHost)
	if turn := now.Add(pace * time.Duration(len(h.line))); h.booked.Before(turn) {
		h.booked = turn
	}
	h.booked = h.booked.Add(pace)
	if limit := now.Add(q.maxDelay); h.booked.After(limit) {
		h.booked = limit
	}
	return max(h.booked.Sub(now), storeGap)
}

// count adds n times a waiting item to the totals.
func (q *hosts[T]) count(e *entry[T], n int) {
	q.waiting += n
	if e.slow || e.host.class == slow {
		q.slow += n
	}
}

// note records the class of an item and its host after an attempt.
func (q *hosts[T]) note(e *entry[T], c class, now time.Time) {
	e.host.tried = now
	if now.Round(0).Before(q.trouble) { // the clock was set back
		q.trouble = time.Time{}
	}
	if c == quick || !e.slow {
		q.set(e.host, c)
	}
	e.slow = c == slow
}

func (q *hosts[T]) set(h *host[T], c class) {
	if c == h.class {
		return
	}
	for _, e := range h.line {
		q.count(e, -1)
	}
	h.class = c
	for _, e := range h.line {
		q.count(e, 1)
	}
}

// timedOut records that an attempt on a quick host, begun at started, timed out. It does nothing while hosts are
// still unsure because of an earlier timeout: otherwise hosts that responded since would be unsure again.
func (q *hosts[T]) timedOut(started time.Time) {
	if q.ready[unsure].Len() > 0 {
		return
	}
	q.trouble = started.Round(0) // comparable with times from the database
	var next *list.Element
	for e := q.ready[quick].Front(); e != nil; e = next {
		next = e.Next()
		if h := e.Value.(*host[T]); q.classOf(q.head(h)) == unsure {
			q.offer(h, false)
		}
	}
}

// classOf returns the class of a host whose next item is e.
func (q *hosts[T]) classOf(e *entry[T]) class {
	if e.slow || e.host.class == slow {
		return slow
	}
	tried := e.host.tried
	if e.start.IsZero() {
		if at := q.queue.Tried(e.item); at.After(tried) {
			tried = at
		}
	}
	if tried.Before(q.trouble) {
		return unsure
	}
	return quick
}

// head returns the item of a host to try next, or nil if none may be tried. Retries precede items that wait. Of
// these, the first are those of Prioritizer (quick before slow), then the longest overdue one. But between two slow
// items, all quick ones have their turn that were due at the end of the first: none waits longer than for one slow
// item.
func (q *hosts[T]) head(h *host[T]) *entry[T] {
	if len(h.retries) > 0 {
		return h.retries[0]
	}
	if len(h.busy) >= q.perHost {
		return nil
	}
	// An item that was never tried may hang, too.
	mayHang := func(e *entry[T]) bool { return e.slow || q.queue.Tried(e.item).IsZero() }
	var first, fast, hanging *entry[T]
	for _, e := range h.line {
		switch {
		case q.isFirst(e) && (first == nil || mayHang(first) && !mayHang(e)):
			first = e
		case hanging == nil && mayHang(e):
			hanging = e
		case fast == nil && !mayHang(e):
			fast = e
		}
	}
	if fast == nil {
		return cmp.Or(first, hanging)
	}
	due := q.queue.Due(fast.item)
	waited := !due.After(h.turn) // while a slow item was tried
	switch {
	case first != nil && !(waited && mayHang(first)):
		return first
	case first != nil, hanging == nil, waited, !due.After(q.queue.Due(hanging.item)):
		return fast
	}
	return hanging
}

// offer marks a host as ready if one of its items may be tried: at the end of the list of its class, or at the front.
func (q *hosts[T]) offer(h *host[T], first bool) {
	if h.ready != nil {
		q.ready[h.in].Remove(h.ready)
		h.ready = nil
	}
	e := q.head(h)
	if e == nil {
		return
	}
	h.in = q.classOf(e)
	if first {
		h.ready = q.ready[h.in].PushFront(h)
	} else {
		h.ready = q.ready[h.in].PushBack(h)
	}
}

// next removes and returns the next item of the first ready host of a class. It returns nil if there is none.
func (q *hosts[T]) next(c class) *entry[T] {
	front := q.ready[c].Front()
	if front == nil {
		return nil
	}
	h := front.Value.(*host[T])
	if len(h.retries) == 0 {
		return q.take(q.head(h))
	}
	e := h.retries[0]
	h.retries = slices.Delete(h.retries, 0, 1)
	q.offer(h, false)
	return e
}

// passSlow removes and returns a quick item that waits behind a slow one, or nil if there is none. Workers without
// other work try it while the slow item has to wait for a worker.
func (q *hosts[T]) passSlow() *entry[T] {
	for at := q.ready[slow].Front(); at != nil; at = at.Next() {
		h := at.Value.(*host[T])
		if h.class == slow || len(h.retries) > 0 {
			continue
		}
		for _, e := range h.line {
			if !e.slow {
				return q.take(e)
			}
		}
	}
	return nil
}

// take removes a waiting item of a ready host.
func (q *hosts[T]) take(e *entry[T]) *entry[T] {
	h := e.host
	at := slices.Index(h.line, e)
	h.line = slices.Delete(h.line, at, at+1)
	q.count(e, -1)
	h.busy = append(h.busy, e)
	q.busy++
	q.offer(h, false)
	return e
}

// retry makes an item in progress ready for another attempt, before others.
func (q *hosts[T]) retry(e *entry[T]) {
	e.host.retries = append(e.host.retries, e)
	q.offer(e.host, true)
}

// done ends an item in progress.
func (q *hosts[T]) done(e *entry[T], now time.Time) {
	h := e.host
	at := slices.Index(h.busy, e)
	h.busy = slices.Delete(h.busy, at, at+1)
	q.busy--
	h.pace = (3*h.pace + now.Sub(e.start)) / 4
	if e.slow {
		h.turn = now.Round(0) // comparable with times from the database
	}
	q.offer(h, false)
	q.forget(h)
}

// drain removes and returns all waiting items.
func (q *hosts[T]) drain() (all []*entry[T]) {
	for _, h := range q.byName {
		all = append(all, h.line...)
		for _, e := range h.line {
			q.count(e, -1)
		}
		h.line = nil
		q.offer(h, false)
		q.forget(h)
	}
	return all
}

// all returns the items in memory that were claimed under a lease, waiting or in progress.
func (q *hosts[T]) all(holder lease.ID) (items []T) {
	for _, h := range q.byName {
		for _, part := range [...][]*entry[T]{h.line, h.busy} {
			for _, e := range part {
				if e.holder == holder {
					items = append(items, e.item)
				}
			}
		}
	}
	return items
}

// forget removes a host without items.
func (q *hosts[T]) forget(h *host[T]) {
	if len(h.line)+len(h.busy) == 0 {
		delete(q.byName, h.name)
	}
}
