package dispatch

import (
	"container/list"
	"slices"
	"time"

	"linkwatch/models/lease"
)

const (
	// maxPerHost is the number of waiting items of one host in memory, so that a host with many items leaves room
	// for others.
	maxPerHost = 32
	// slowAfter is the duration of an attempt from which on a host counts as slow.
	slowAfter = time.Second
	// firstPace is the estimated duration of an item on a host without attempts.
	firstPace = 20 * time.Millisecond
)

// class is a class of hosts. Slow hosts share at most half of the workers, so that responsive hosts do not wait
// for hosts that hang. When a quick host times out, others may have started to hang too: hosts not tried since are
// unsure, and leave some workers to the rest.
type class int

const (
	quick   class = iota // neither unsure nor slow
	unsure               // not tried since the start of an attempt on a quick host that timed out
	slow                 // the last attempt took longer than slowAfter, or timed out
	classes              // the number of classes
)

// entry is a claimed item in memory.
type entry[T any] struct {
	item    T
	holder  lease.ID // the lease it was claimed under
	host    *host[T]
	class   class     // of the attempt in progress
	start   time.Time // of its first attempt
	retryAt time.Time // of the next retry
}

// host is the state of a host while an item of it is in memory.
type host[T any] struct {
	name   string
	class  class         // quick or slow
	tried  time.Time     // the end of the last attempt; zero: none while it is in memory
	line   []*entry[T]   // waiting items, the longest overdue first
	busy   *entry[T]     // in progress or waiting for a retry; nil: none
	ready  *list.Element // its element in hosts.ready; nil: none of its items is ready
	in     class         // the class of that list
	pace   time.Duration // the average duration of an item
	booked time.Time     // released items are scheduled until this time
}

// hosts holds the waiting items by host. One goroutine owns it. A host is removed with its last item.
type hosts[T any] struct {
	queue    Queue[T]
	room     int           // the largest number of waiting items; slow hosts may use half of it
	maxDelay time.Duration // see Options
	byName   map[string]*host[T]
	ready    [classes]list.List // of *host: hosts with an item that is ready, in turn
	waiting  int                // waiting items
	slow     int                // waiting items of slow hosts
	busy     int                // hosts with an item in progress
	trouble  time.Time          // hosts not tried since are unsure; zero: no host is
}

// add appends an item to the queue of its host. If the host, or slow hosts in total, have too many items, it
// returns in out the entry to release, and in after for how long.
func (q *hosts[T]) add(e *entry[T], now time.Time) (out *entry[T], after time.Duration) {
	name := q.queue.Host(e.item)
	h := q.byName[name]
	if h == nil {
		h = &host[T]{name: name, pace: firstPace}
		if q.queue.Slow(e.item) {
			h.class = slow
		}
		q.byName[name] = h
	}
	e.host = h
	if h.class == slow && q.slow >= q.room/2 {
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
	q.count(h, 1)
	if h.busy == nil && h.ready == nil {
		q.offer(h, false)
	}
	if len(h.line) <= maxPerHost {
		return nil, 0
	}
	last := len(h.line) - 1
	out = h.line[last]
	h.line = slices.Delete(h.line, last, last+1)
	q.count(h, -1)
	return out, q.book(h, now)
}

// book returns when an item without room in memory is due again: after the waiting items of its host, and after
// items released before. So released items return no faster than the host can serve them.
func (q *hosts[T]) book(h *host[T], now time.Time) time.Duration {
	if turn := now.Add(h.pace * time.Duration(len(h.line))); h.booked.Before(turn) {
		h.booked = turn
	}
	h.booked = h.booked.Add(h.pace)
	if limit := now.Add(q.maxDelay); h.booked.After(limit) {
		h.booked = limit
	}
	return max(h.booked.Sub(now), storeGap)
}

// count adds n waiting items of a host to the totals.
func (q *hosts[T]) count(h *host[T], n int) {
	q.waiting += n
	if h.class == slow {
		q.slow += n
	}
}

// note records the class of a host after an attempt.
func (q *hosts[T]) note(h *host[T], c class, now time.Time) {
	h.tried = now
	if now.Round(0).Before(q.trouble) { // the clock was set back
		q.trouble = time.Time{}
	}
	q.set(h, c)
}

func (q *hosts[T]) set(h *host[T], c class) {
	q.count(h, -len(h.line))
	h.class = c
	q.count(h, len(h.line))
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
		if h := e.Value.(*host[T]); q.listOf(h) == unsure {
			q.ready[quick].Remove(e)
			h.in = unsure
			h.ready = q.ready[unsure].PushBack(h)
		}
	}
}

// listOf returns the class of the list that a host belongs in.
func (q *hosts[T]) listOf(h *host[T]) class {
	if h.class == slow {
		return slow
	}
	tried := h.tried
	if h.busy == nil {
		if at := q.queue.Tried(h.line[0].item); at.After(tried) {
			tried = at
		}
	}
	if tried.Before(q.trouble) {
		return unsure
	}
	return quick
}

// offer marks a host as ready: at the end of the list of its class, or at the front.
func (q *hosts[T]) offer(h *host[T], first bool) {
	// Even if another item of the host has responded since: this item may hang each time.
	if h.busy == nil && q.queue.Slow(h.line[0].item) {
		q.set(h, slow)
	}
	h.in = q.listOf(h)
	if first {
		h.ready = q.ready[h.in].PushFront(h)
	} else {
		h.ready = q.ready[h.in].PushBack(h)
	}
}

// next removes the first ready item of a class and marks its host as busy. It returns nil if there is none.
func (q *hosts[T]) next(c class) *entry[T] {
	front := q.ready[c].Front()
	if front == nil {
		return nil
	}
	h := q.ready[c].Remove(front).(*host[T])
	h.ready = nil
	if h.busy == nil {
		h.busy = h.line[0]
		h.line = slices.Delete(h.line, 0, 1)
		q.count(h, -1)
		q.busy++
	}
	return h.busy
}

// retry makes an item in progress ready for another attempt, before others.
func (q *hosts[T]) retry(e *entry[T]) { q.offer(e.host, true) }

// done ends the item in progress of a host.
func (q *hosts[T]) done(e *entry[T], now time.Time) {
	h := e.host
	h.busy = nil
	q.busy--
	h.pace = (3*h.pace + now.Sub(e.start)) / 4
	if len(h.line) > 0 {
		q.offer(h, false)
	}
	q.forget(h)
}

// drain removes and returns all waiting items.
func (q *hosts[T]) drain() (all []*entry[T]) {
	for _, h := range q.byName {
		all = append(all, h.line...)
		q.count(h, -len(h.line))
		h.line = nil
		if h.busy == nil && h.ready != nil {
			q.ready[h.in].Remove(h.ready)
			h.ready = nil
		}
		q.forget(h)
	}
	return all
}

// all returns the items in memory that were claimed under a lease, waiting or in progress.
func (q *hosts[T]) all(holder lease.ID) (items []T) {
	for _, h := range q.byName {
		for _, e := range h.line {
			if e.holder == holder {
				items = append(items, e.item)
			}
		}
		if h.busy != nil && h.busy.holder == holder {
			items = append(items, h.busy.item)
		}
	}
	return items
}

// forget removes a host without items.
func (q *hosts[T]) forget(h *host[T]) {
	if len(h.line) == 0 && h.busy == nil {
		delete(q.byName, h.name)
	}
}
