// Package visits counts requests for short links in memory and stores them in batches, so
// that no redirect waits for the database.
package visits

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
	"linkwatch/models/useragent"
)

const (
	// maxQueued is the capacity of the queue, more than a second of redirects on two cores.
	maxQueued = 1 << 16
	// keptQueue is the capacity of an empty queue. A larger one is freed: the garbage collector would read all of it.
	keptQueue = 1 << 12
	// aggregateInterval is how often the queue is drained.
	aggregateInterval = 50 * time.Millisecond
	// maxAggregated limits the visits in memory while the database is unavailable or slow: the
	// number of link days, and the number of their referrers. They take about 25 MB, and PostgreSQL writes them within
	// the time that a shutdown has.
	maxAggregated = 100_000
	// writeBatch is the number of link days per transaction.
	writeBatch = 500
)

// Counter implements shortlinks.Counter. Count queues requests, one goroutine aggregates
// them by short link and day (Aggregate), and another one stores them (Write). Requests
// beyond its limits are dropped and counted as dropped.
type Counter struct {
	dropped, written atomic.Int64

	queueing sync.Mutex // taken after mu, and never while visits are aggregated
	queue    []shortlinks.Visit

	mu         sync.Mutex
	drained    []shortlinks.Visit // empty; the next queue
	headers    headers
	aggregated map[linkDay]*shortlinks.DayVisits
	visits     int64 // in aggregated
	referrers  int   // in aggregated
}

type linkDay struct {
	link int64
	day  int64 // start in Unix seconds
}

// New returns an empty Counter.
func New() *Counter {
	return &Counter{headers: newHeaders(), aggregated: map[linkDay]*shortlinks.DayVisits{}}
}

// Count implements shortlinks.Counter.
func (c *Counter) Count(v shortlinks.Visit) {
	v.Visitor = truncate(v.Visitor)
	c.queueing.Lock()
	defer c.queueing.Unlock()
	if len(c.queue) >= maxQueued {
		c.dropped.Add(1)
		return
	}
	c.queue = append(c.queue, v)
}

// IsVisit implements shortlinks.Counter.
func (c *Counter) IsVisit(v shortlinks.Visitor) bool {
	return !v.Ahead && !useragent.Parse(truncate(v).UserAgent).Automatic()
}

// Dropped returns the number of visits dropped since the start.
func (c *Counter) Dropped() int64 { return c.dropped.Load() }

// Written returns the number of visits stored since the start.
func (c *Counter) Written() int64 { return c.written.Load() }

// Waiting returns the number of visits that are not stored yet.
func (c *Counter) Waiting() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queueing.Lock()
	defer c.queueing.Unlock()
	return c.visits + int64(len(c.queue))
}

// Aggregate drains the queue at intervals until ctx ends, then once more. Only one
// goroutine may run it. Waking a goroutine for each visit would cost more than the rest
// of its work.
func (c *Counter) Aggregate(ctx context.Context) {
	ticker := time.NewTicker(aggregateInterval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		c.drain()
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
	c.drain()
}

func (c *Counter) drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queueing.Lock()
	visits := c.queue
	c.queue = c.drained
	c.queueing.Unlock()
	for _, v := range visits {
		c.add(v)
	}
	if c.drained = nil; cap(visits) <= keptQueue {
		clear(visits) // they hold the headers of requests
		c.drained = visits[:0]
	}
}

// add aggregates a request. The caller holds mu.
func (c *Counter) add(v shortlinks.Visit) {
	d := c.day(v.Link, v.At.StartOfDay())
	if d == nil {
		c.dropped.Add(1)
		return
	}
	c.visits++
	switch family := c.headers.family(v.Visitor.UserAgent); {
	case family == useragent.Bot:
		d.Bots++
		return // it is no visit
	case family == useragent.Preview, v.Visitor.Ahead:
		d.Previews++
		return
	case family == useragent.Desktop:
		d.Desktop++
	case family == useragent.Mobile:
		d.Mobile++
	case family == useragent.Tablet:
		d.Tablet++
	default:
		d.Other++
	}
	if v.Claimed {
		d.Claimed++
	}
	if v.At.After(d.Last.Time) {
		d.Last = v.At
	}
	if host := c.headers.referrer(v.Visitor.Referrer); host != "" {
		c.addReferrer(d, host, 1)
	}
}

// day returns the counts of a short link on a day, or nil if there is no room.
func (c *Counter) day(link int64, start models.Time) *shortlinks.DayVisits {
	key := linkDay{link, start.Unix()}
	d := c.aggregated[key]
	if d == nil && len(c.aggregated) < maxAggregated {
		d = &shortlinks.DayVisits{Link: link, Day: shortlinks.Day{Start: start}}
		c.aggregated[key] = d
	}
	return d
}

// addReferrer counts visits of a referring host. Hosts beyond the limits count as
// OtherHosts.
func (c *Counter) addReferrer(d *shortlinks.DayVisits, host string, n int64) {
	at := indexOf(host, d.Referrers)
	if at < 0 && (len(d.Referrers) >= shortlinks.MaxReferrers || c.referrers >= maxAggregated) {
		host = shortlinks.OtherHosts
		at = indexOf(host, d.Referrers)
	}
	if at < 0 {
		d.Referrers = append(d.Referrers, shortlinks.Referrer{Host: host})
		at = len(d.Referrers) - 1
		c.referrers++
	}
	d.Referrers[at].Visits += n
}

// indexOf returns the index of a host in referrers, or -1. A map per short link would take
// more memory than everything else.
func indexOf(host string, referrers []shortlinks.Referrer) int {
	return slices.IndexFunc(referrers, func(r shortlinks.Referrer) bool { return r.Host == host })
}

// Write stores the aggregated visits. After an error, visits that were not stored stay in
// memory for the next Write.
func (c *Counter) Write(ctx context.Context, store *shortlinks.Store) error {
	for keys := range slices.Chunk(c.keys(), writeBatch) {
		batch := c.take(keys)
		if err := store.WriteVisits(ctx, batch); err != nil {
			c.requeue(batch)
			return err
		}
		for _, d := range batch {
			c.written.Add(d.All())
		}
	}
	return nil
}

// keys returns the link days with visits, ordered like the rows of the database: neighbors are written together.
func (c *Counter) keys() []linkDay {
	c.mu.Lock()
	keys := slices.Collect(maps.Keys(c.aggregated))
	c.mu.Unlock()
	slices.SortFunc(keys, func(a, b linkDay) int { return cmp.Or(cmp.Compare(a.link, b.link), cmp.Compare(a.day, b.day)) })
	return keys
}

// take removes link days.
func (c *Counter) take(keys []linkDay) []*shortlinks.DayVisits {
	c.mu.Lock()
	defer c.mu.Unlock()
	batch := make([]*shortlinks.DayVisits, 0, len(keys))
	for _, key := range keys {
		d := c.aggregated[key]
		if d == nil { // another Write has taken it
			continue
		}
		delete(c.aggregated, key)
		c.visits -= d.All()
		c.referrers -= len(d.Referrers)
		batch = append(batch, d)
	}
	return batch
}

// requeue adds visits that could not be stored to the aggregated ones.
func (c *Counter) requeue(batch []*shortlinks.DayVisits) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range batch {
		d := c.day(b.Link, b.Start)
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
			c.addReferrer(d, r.Host, r.Visits)
		}
	}
}
