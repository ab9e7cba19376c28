package links

import (
	"net/url"

	"github.com/linkwatch/linkwatch/models/links"
)

// queue holds claimed links by host and hands out one of each host at a time,
// the hosts in turn. It belongs to one goroutine, and forgets a host with its
// last link.
type queue struct {
	waiting map[string][]links.Link
	busy    map[string]bool // hosts with a check under way
	free    []string        // hosts with waiting links that are not busy, in turn
	size    int             // links that wait
}

func newQueue() *queue {
	return &queue{waiting: map[string][]links.Link{}, busy: map[string]bool{}}
}

// hostOf is the host of a link with its port, as it is in canonical form.
func hostOf(l links.Link) string {
	u, err := url.Parse(l.CanonicalURL)
	if err != nil { // no such URL is ever stored; were it, each would be a host of its own
		return l.CanonicalURL
	}
	return u.Host
}

func (q *queue) add(ls []links.Link) {
	for _, l := range ls {
		h := hostOf(l)
		if len(q.waiting[h]) == 0 && !q.busy[h] {
			q.free = append(q.free, h)
		}
		q.waiting[h] = append(q.waiting[h], l)
		q.size++
	}
}

// peek is the next link that may be checked; ok is false if every host is busy.
func (q *queue) peek() (l links.Link, ok bool) {
	if len(q.free) == 0 {
		return links.Link{}, false
	}
	return q.waiting[q.free[0]][0], true
}

// take removes the link that peek showed and makes its host busy.
func (q *queue) take() {
	h := q.free[0]
	q.free = q.free[1:]
	q.busy[h] = true
	q.size--
	if q.waiting[h] = q.waiting[h][1:]; len(q.waiting[h]) == 0 {
		delete(q.waiting, h)
	}
}

// done frees the host of a link that was taken.
func (q *queue) done(l links.Link) {
	h := hostOf(l)
	delete(q.busy, h)
	if len(q.waiting[h]) > 0 {
		q.free = append(q.free, h)
	}
}
