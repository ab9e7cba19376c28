package targets

import (
	"container/list"
	"slices"
	"time"

	"linkwatch/models"
	"linkwatch/models/targets"
)

const (
	// maxPerHost is how many targets of one host wait in the queue, so that a
	// host with many of them leaves room for the others.
	maxPerHost = 32
	// slowAfter is how long an attempt may take on a host that is not slow.
	slowAfter = time.Second
	// firstPace is how long a check is taken to last on a host that had none.
	firstPace = 20 * time.Millisecond
	// How long a target is put off that the queue has no room for. At the upper
	// limit even a host that has hung for long is seen to be well again soon.
	minPutOff = passGap
	maxPutOff = targets.MaxPutOff
)

// Lanes, so that hosts that answer never wait for those that do not.
type lane int

const (
	fastLane lane = iota // hosts that answered in time
	newLane              // hosts of which nothing is known yet
	slowLane             // hosts that took long, or did not answer in time
	lanes
)

// queue holds claimed targets by host and hands out one of each host at a
// time, the hosts of a lane in turn. It belongs to one goroutine, and forgets a
// host with its last target.
type queue struct {
	room     int // how many may wait; at most half of them on slow hosts
	hosts    map[string]*host
	ready    [lanes]list.List // of *host: those of which a check may run
	size     int              // checks that wait
	slow     int              // those of them on slow hosts
	underWay int              // hosts with a check under way
}

// host is what the queue knows of a host (with its port) while something of it
// waits or is under way.
type host struct {
	name     string
	line     []*check      // those that wait, the longest due first
	underWay *check        // its retries and the waits before them included; nil: none
	slow     bool          // its last attempt was, or the one that its next target remembers
	known    bool          // there was an attempt, or one of its targets remembers one
	in       lane          // the lane of place
	place    *list.Element // in its lane; nil: none of it may run now
	pace     time.Duration // what a check takes here, about
	booked   time.Time     // until when the time of the host is promised to those that were put off
}

func newQueue(room int) *queue { return &queue{room: room, hosts: map[string]*host{}} }

// wasSlow says whether the last check of a target took the time of others.
func wasSlow(t targets.Target) bool {
	return t.LastError == timedOut || t.LastLatencyMS > int(slowAfter.Milliseconds())
}

// add puts a check into its host's line. Whoever has been due the shortest
// leaves if there are too many, of the host or of slow ones: then out is that
// check, which may be c, and is to be put off by later.
func (q *queue) add(c *check, now time.Time) (out *check, later time.Duration) {
	name := models.HostPort(c.CanonicalURL)
	h := q.hosts[name]
	if h == nil {
		h = &host{name: name, slow: wasSlow(c.Target), pace: firstPace}
		q.hosts[name] = h
	}
	c.host = h
	h.known = h.known || !c.LastCheckedAt.IsZero()
	at, _ := slices.BinarySearchFunc(h.line, c, func(a, b *check) int {
		if a.DueAt.After(b.DueAt.Time) {
			return 1
		}
		return -1 // also behind those that have been due for as long
	})
	h.line = slices.Insert(h.line, at, c)
	q.count(h, 1)
	if h.underWay == nil && h.place == nil {
		q.offer(h, false)
	}
	switch {
	case len(h.line) > maxPerHost:
		return q.dropLast(h), h.book(now)
	case h.slow && q.slow > q.room/2:
		return q.dropLast(q.youngestSlow()), maxPutOff
	}
	return nil, 0
}

// book finds a time for one that is put off: after those in line and those
// that were put off before it. So they come back no faster than the host can
// take them, however many they are.
func (h *host) book(now time.Time) time.Duration {
	if turn := now.Add(h.pace * time.Duration(len(h.line))); h.booked.Before(turn) {
		h.booked = turn
	}
	if limit := now.Add(maxPutOff); h.booked.After(limit) {
		h.booked = limit
	}
	h.booked = h.booked.Add(h.pace)
	return min(max(h.booked.Sub(now), minPutOff), maxPutOff)
}

// youngestSlow is the slow host on which the one waits that has been due the
// shortest of all. There is one.
func (q *queue) youngestSlow() (found *host) {
	for _, h := range q.hosts {
		if h.slow && len(h.line) > 0 && (found == nil || h.last().DueAt.After(found.last().DueAt.Time)) {
			found = h
		}
	}
	return found
}

func (h *host) last() *check { return h.line[len(h.line)-1] }

func (q *queue) dropLast(h *host) *check {
	c := h.last()
	h.line = slices.Delete(h.line, len(h.line)-1, len(h.line))
	q.count(h, -1)
	q.forget(h)
	return c
}

// count notes that n more wait on a host.
func (q *queue) count(h *host, n int) {
	q.size += n
	if h.slow {
		q.slow += n
	}
}

// note says how a host did in its last attempt.
func (q *queue) note(h *host, slow bool) {
	h.known = true
	if h.slow == slow {
		return
	}
	q.count(h, -len(h.line))
	h.slow = slow
	q.count(h, len(h.line))
}

// offer says that a check of the host may run: in its turn, or before all
// others of its lane.
func (q *queue) offer(h *host, first bool) {
	if h.underWay == nil && wasSlow(h.line[0].Target) {
		q.note(h, true)
	}
	h.in = h.lane()
	l := &q.ready[h.in]
	if first {
		h.place = l.PushFront(h)
	} else {
		h.place = l.PushBack(h)
	}
}

// lane is where the host's next turn comes.
func (h *host) lane() lane {
	switch {
	case h.slow:
		return slowLane
	case h.known:
		return fastLane
	}
	return newLane
}

// waits says whether a check of a lane may run.
func (q *queue) waits(l lane) bool { return q.ready[l].Len() > 0 }

// quick is how many hosts that are not slow wait for a worker.
func (q *queue) quick() int { return q.ready[fastLane].Len() + q.ready[newLane].Len() }

// next takes the first check of a lane that waits, and makes its host busy.
func (q *queue) next(l lane) *check {
	h := q.ready[l].Remove(q.ready[l].Front()).(*host)
	h.place = nil
	if h.underWay == nil {
		h.underWay = h.line[0]
		h.line = slices.Delete(h.line, 0, 1)
		q.count(h, -1)
		q.underWay++
	}
	return h.underWay
}

// again lets a check under way have another attempt, before others.
func (q *queue) again(c *check) { q.offer(c.host, true) }

// done frees the host of a check under way, which took that long.
func (q *queue) done(c *check, took time.Duration) {
	h := c.host
	h.underWay = nil
	q.underWay--
	h.pace = (3*h.pace + took) / 4
	if len(h.line) > 0 {
		q.offer(h, false)
	}
	q.forget(h)
}

// drain removes all that wait.
func (q *queue) drain() (all []*check) {
	for _, h := range q.hosts {
		all = append(all, h.line...)
		q.count(h, -len(h.line))
		h.line = nil
		q.forget(h)
	}
	return all
}

// forget drops a host of which nothing waits or is under way.
func (q *queue) forget(h *host) {
	if len(h.line) > 0 || h.underWay != nil {
		return
	}
	if h.place != nil {
		q.ready[h.in].Remove(h.place)
	}
	delete(q.hosts, h.name)
}
