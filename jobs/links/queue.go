package links

// maxPerHost is how many links of one host wait in a queue, so that a host
// with many of them leaves room for the others.
const maxPerHost = 20

// queue holds claimed links (T is a link and what it was claimed for) by host
// and hands out one of each host at a time, the hosts in turn. It belongs to
// one goroutine, and forgets a host with its last link.
type queue[T any] struct {
	waiting map[string][]T
	busy    map[string]bool // hosts with a fetch under way
	free    []string        // hosts with waiting links that are not busy, in turn
	size    int             // links that wait
}

func newQueue[T any]() *queue[T] {
	return &queue[T]{waiting: map[string][]T{}, busy: map[string]bool{}}
}

// add puts a link at the end of its host's line; false if that is full.
func (q *queue[T]) add(host string, item T) bool {
	line := q.waiting[host]
	if len(line) >= maxPerHost {
		return false
	}
	if len(line) == 0 && !q.busy[host] {
		q.free = append(q.free, host)
	}
	q.waiting[host] = append(line, item)
	q.size++
	return true
}

// peek is the next link that may be fetched; ok is false if every host is busy.
func (q *queue[T]) peek() (item T, ok bool) {
	if len(q.free) == 0 {
		return item, false
	}
	return q.waiting[q.free[0]][0], true
}

// take removes the link that peek showed and makes its host busy.
func (q *queue[T]) take() {
	h := q.free[0]
	q.free = q.free[1:]
	q.busy[h] = true
	q.size--
	if q.waiting[h] = q.waiting[h][1:]; len(q.waiting[h]) == 0 {
		delete(q.waiting, h)
	}
}

// done frees the host of a link that was taken. It is true if no other link of
// the host waits.
func (q *queue[T]) done(host string) bool {
	delete(q.busy, host)
	if len(q.waiting[host]) == 0 {
		return true
	}
	q.free = append(q.free, host)
	return false
}

// rest are all links that wait.
func (q *queue[T]) rest() []T {
	all := make([]T, 0, q.size)
	for _, line := range q.waiting {
		all = append(all, line...)
	}
	return all
}
