// Package visits counts the visits of short links in memory, so that no redirect
// waits for the database, and stores them in batches.
package visits

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
	"linkwatch/models/useragent"
)

const (
	// maxQueued is the number of visits that wait to be gathered at most. It is
	// more than a second of the redirects that two cores make.
	maxQueued = 1 << 16
	// gatherInterval is how often the queue is emptied.
	gatherInterval = 50 * time.Millisecond
	// maxGathered limits what waits to be written while the database is unavailable:
	// days of links, and referrers of all of them together.
	maxGathered = 100_000
	// writtenAtOnce is how many days of links one transaction writes.
	writtenAtOnce = 500
)

// Counter is the shortlinks.Counter of one process. Count puts visits into a
// queue, one goroutine gathers them by link and day (Gather), and another stores
// them (Write). Visits beyond its limits are dropped, and the number of
// dropped visits is counted.
type Counter struct {
	queue            chan shortlinks.Visit
	dropped, written atomic.Int64

	mu        sync.Mutex
	headers   headers
	gathered  map[linkDay]*shortlinks.DayVisits
	visits    int64 // in gathered
	referrers int   // in gathered
}

type linkDay struct {
	link int64
	day  int64 // Unix seconds of its start
}

// New makes a Counter that has no visits.
func New() *Counter {
	return &Counter{queue: make(chan shortlinks.Visit, maxQueued), headers: newHeaders(), gathered: map[linkDay]*shortlinks.DayVisits{}}
}

// Count implements shortlinks.Counter.
func (c *Counter) Count(v shortlinks.Visit) {
	v.Visitor = cut(v.Visitor)
	select {
	case c.queue <- v:
	default:
		c.dropped.Add(1)
	}
}

// Dropped returns the number of visits since the start that were not counted,
// because too many were waiting.
func (c *Counter) Dropped() int64 { return c.dropped.Load() }

// Written returns the number of visits stored since the start.
func (c *Counter) Written() int64 { return c.written.Load() }

// Waiting returns the number of visits that are not stored yet.
func (c *Counter) Waiting() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.visits + int64(len(c.queue))
}

// Gather gathers visits until ctx ends, then those left in the queue. One
// goroutine at a time may run it. It empties the queue at intervals: waking a
// goroutine for each visit would cost more than the rest of its work.
func (c *Counter) Gather(ctx context.Context) {
	look := time.NewTicker(gatherInterval)
	defer look.Stop()
	for ctx.Err() == nil {
		c.gatherAll()
		select {
		case <-look.C:
		case <-ctx.Done():
		}
	}
	c.gatherAll()
}

// gatherAll gathers what is in the queue.
func (c *Counter) gatherAll() {
	for {
		select {
		case v := <-c.queue:
			c.gather(v)
		default:
			return
		}
	}
}

func (c *Counter) gather(v shortlinks.Visit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.of(v.Link, v.At.StartOfDay())
	if d == nil {
		c.dropped.Add(1)
		return
	}
	c.visits++
	if v.Claimed {
		d.Claimed++
	}
	if v.At.After(d.Last.Time) {
		d.Last = v.At
	}
	switch c.headers.family(v.Visitor.UserAgent) {
	case useragent.Bot:
		d.Bots++
		return // its Referer says nothing about people
	case useragent.Desktop:
		d.Desktop++
	case useragent.Mobile:
		d.Mobile++
	case useragent.Tablet:
		d.Tablet++
	case useragent.Other:
		d.Other++
	}
	if host := c.headers.referrer(v.Visitor.Referrer); host != "" {
		c.refer(d, host, 1)
	}
}

// of is the day of a link to count in; nil if there is no room for it.
func (c *Counter) of(link int64, start models.Time) *shortlinks.DayVisits {
	key := linkDay{link, start.Unix()}
	d := c.gathered[key]
	if d == nil && len(c.gathered) < maxGathered {
		d = &shortlinks.DayVisits{Link: link, Day: shortlinks.Day{Start: start}}
		c.gathered[key] = d
	}
	return d
}

// refer counts visits that a host sent. Hosts beyond the limits are counted
// together.
func (c *Counter) refer(d *shortlinks.DayVisits, host string, n int64) {
	at := placeOf(host, d.Referrers)
	if at < 0 && (len(d.Referrers) >= shortlinks.MaxReferrers || c.referrers >= maxGathered) {
		host = shortlinks.OtherHosts
		at = placeOf(host, d.Referrers)
	}
	if at < 0 {
		d.Referrers = append(d.Referrers, shortlinks.Referrer{Host: host})
		at = len(d.Referrers) - 1
		c.referrers++
	}
	d.Referrers[at].Visits += n
}

// placeOf is the index of a host in referrers; negative if it has none. They are
// few: a map for each link would take more memory than all the rest.
func placeOf(host string, referrers []shortlinks.Referrer) int {
	return slices.IndexFunc(referrers, func(r shortlinks.Referrer) bool { return r.Host == host })
}

// Write writes down what was gathered until now. After an error, what the
// database did not take waits for the next Write and further visits add to it.
func (c *Counter) Write(ctx context.Context, store *shortlinks.Store) error {
	for left := c.days(); left > 0; left -= writtenAtOnce {
		batch := c.take(writtenAtOnce)
		if err := store.WriteVisits(ctx, batch); err != nil {
			c.giveBack(batch)
			return err
		}
		for _, d := range batch {
			c.written.Add(d.All())
		}
	}
	return nil
}

// days is how many days of links are gathered.
func (c *Counter) days() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.gathered)
}

// take removes up to n days of links, which are then stored or given back.
func (c *Counter) take(n int) []*shortlinks.DayVisits {
	c.mu.Lock()
	defer c.mu.Unlock()
	batch := make([]*shortlinks.DayVisits, 0, min(n, len(c.gathered)))
	for key, d := range c.gathered {
		if len(batch) == n {
			break
		}
		delete(c.gathered, key)
		c.visits -= d.All()
		c.referrers -= len(d.Referrers)
		batch = append(batch, d)
	}
	return batch
}

// giveBack adds visits that could not be stored to those gathered since.
func (c *Counter) giveBack(batch []*shortlinks.DayVisits) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range batch {
		d := c.of(b.Link, b.Start)
		if d == nil {
			c.dropped.Add(b.All())
			continue
		}
		c.visits += b.All()
		d.Add(b.Day)
		d.Claimed += b.Claimed
		if b.Last.After(d.Last.Time) {
			d.Last = b.Last
		}
		for _, r := range b.Referrers {
			c.refer(d, r.Host, r.Visits)
		}
	}
}
