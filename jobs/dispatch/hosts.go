package dispatch

import (
	"container/list"
	"slices"
	"time"

	"linkwatch/models/lease"
)

const (
	// maxPerHost is how many items of one host wait in memory, so that a host with
	// many of them leaves room for the others.
	maxPerHost = 32
	// slowAfter is how long an attempt may take on a host that is not slow.
	slowAfter = time.Second
	// firstPace is how long an item is taken to last on a host that had none.
	firstPace = 20 * time.Millisecond
)

// class is a class of hosts. Slow ones share at most half of the workers, so that
// hosts that respond in time do not wait for those that hang. When a quick host times
// out, others may have begun to hang with it: those that were not tried since are
// unsure, and leave some workers to the rest.
type class int

const (
	quick   class = iota // neither of the others
	unsure               // not tried since an attempt on a quick host began that timed out
	slow                 // the last attempt took longer than slowAfter, or timed out
	classes              // how many there are
)

// entry is a claimed item in memory.
type entry[T any] struct {
	item    T
	holder  lease.ID // the lease it was claimed under
	host    *host[T]
	class   class     // of its attempt under way
	start   time.Time // of its first attempt
	retryAt time.Time // in a pause
}

// host is what is known of a host while an item of it is in memory.
type host[T any] struct {
	name   string
	class  class         // quick or slow
	tried  time.Time     // the end of the last attempt; zero: none while it is in memory
	line   []*entry[T]   // those that wait, the longest due first
	busy   *entry[T]     // the one under way, its pauses included; nil: none
	ready  *list.Element // in hosts.ready; nil: no item of it may be tried now
	in     class         // the list of ready
	pace   time.Duration // how long an item takes here, about
	booked time.Time     // until when the time of the host is promised to released items
}

// hosts holds the items that wait, by host. It belongs to one goroutine, and
// forgets a host with its last item.
type hosts[T any] struct {
	queue     Queue[T]
	room      int           // how many items may wait; at most half of them on slow hosts
	maxPutOff time.Duration // see Options
	of        map[string]*host[T]
	ready     [classes]list.List // of *host: those of which an item may be tried, in turn
	waiting   int                // items that wait
	slow      int                // those of them on slow hosts
	busy      int                // hosts with an item under way
	trouble   time.Time          // hosts that were not tried since are unsure; zero: none is
}

// add puts an item into the line of its host. If there are too many, of the host or
// of slow ones, one leaves: out is its entry, which is to be released for a time.
func (q *hosts[T]) add(e *entry[T], now time.Time) (out *entry[T], after time.Duration) {
	name := q.queue.Host(e.item)
	h := q.of[name]
	if h == nil {
		h = &host[T]{name: name, pace: firstPace}
		if q.queue.Slow(e.item) {
			h.class = slow
		}
		q.of[name] = h
	}
	e.host = h
	if h.class == slow && q.slow >= q.room/2 {
		q.forget(h)
		return e, q.maxPutOff
	}
	due := q.queue.Due(e.item)
	at, _ := slices.BinarySearchFunc(h.line, due, func(a *entry[T], due time.Time) int {
		if q.queue.Due(a.item).After(due) {
			return 1
		}
		return -1 // also behind those that have been due for as long
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

// book finds a time for an item that has no place in the line: after those in it,
// and after those that were released before. So they come back no faster than
// the host can take them, however many they are.
func (q *hosts[T]) book(h *host[T], now time.Time) time.Duration {
	if turn := now.Add(h.pace * time.Duration(len(h.line))); h.booked.Before(turn) {
		h.booked = turn
	}
	h.booked = h.booked.Add(h.pace)
	if limit := now.Add(q.maxPutOff); h.booked.After(limit) {
		h.booked = limit
	}
	return max(h.booked.Sub(now), storeGap)
}

// count notes that n more items of a host wait.
func (q *hosts[T]) count(h *host[T], n int) {
	q.waiting += n
	if h.class == slow {
		q.slow += n
	}
}

// note says how a host did in an attempt that has just ended.
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

// timedOut says that an attempt on a quick host timed out, which began at a time.
// While hosts wait that are unsure since an earlier one, it changes nothing: else
// those that were found to respond meanwhile would be unsure again.
func (q *hosts[T]) timedOut(began time.Time) {
	if q.ready[unsure].Len() > 0 {
		return
	}
	q.trouble = began.Round(0) // as the times of items are, which come from the database
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

// listOf is the list that a host waits in.
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

// offer says that an item of the host may be tried: in its turn, or before all others
// of its class.
func (q *hosts[T]) offer(h *host[T], first bool) {
	// Also if another item of the host responded since: this one may hang by itself, each time.
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

// next takes the first item of a class that may be tried, and makes its host
// busy; nil if there is none.
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

// again lets an item under way have another attempt, before others.
func (q *hosts[T]) again(e *entry[T]) { q.offer(e.host, true) }

// done frees the host of an item under way.
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

// drain removes all items that wait.
func (q *hosts[T]) drain() (all []*entry[T]) {
	for _, h := range q.of {
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

// all are the items in memory that were claimed under a lease: those that wait and
// those under way.
func (q *hosts[T]) all(holder lease.ID) (items []T) {
	for _, h := range q.of {
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

// forget drops a host of which nothing waits or is under way.
func (q *hosts[T]) forget(h *host[T]) {
	if len(h.line) == 0 && h.busy == nil {
		delete(q.of, h.name)
	}
}
