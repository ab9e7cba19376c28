package shortlinks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"github.com/linkwatch/linkwatch/models"
)

const (
	// maxQueued is how many visits wait to be gathered at most. That is more
	// than a second of the redirects that two cores make.
	maxQueued = 1 << 16
	// gatherInterval is how often the queue is emptied.
	gatherInterval = 50 * time.Millisecond
	// maxGathered bounds what waits to be written down while the database does
	// not take it: days of links, and referrers of all of them together.
	maxGathered = 100_000
	// writtenAtOnce is how many days of links one transaction writes.
	writtenAtOnce = 500
)

// Visits are those that are not yet written down. Redirects add to them without
// waiting for anything, one goroutine gathers them, and another writes them
// down (Store.WriteVisits). What finds no room is dropped, and counted.
type Visits struct {
	queue            chan visit
	dropped, written atomic.Int64

	mu        sync.Mutex
	visitors  visitors
	gathered  map[linkDay]*linkVisits
	visits    int64 // in gathered
	referrers int   // in gathered
}

type visit struct {
	link    int64
	who     Visitor
	at      models.Time
	claimed bool // it is in the link's Visits already
}

type linkDay struct {
	link int64
	day  int64 // Unix seconds of its start
}

// linkVisits are the visits of one link on one day.
type linkVisits struct {
	Link                                 int64
	Day                                  models.Time
	Bots, Desktop, Mobile, Tablet, Other int64
	Claimed                              int64            // of all of these
	Referrers                            map[string]int64 // by host, of people whom one sent; nil: of none
	Last                                 models.Time
}

func (v *linkVisits) sum() int64 { return v.Bots + v.Desktop + v.Mobile + v.Tablet + v.Other }

func newVisits() *Visits {
	return &Visits{queue: make(chan visit, maxQueued), visitors: newVisitors(), gathered: map[linkDay]*linkVisits{}}
}

// add takes a visit up; it never waits.
func (v *Visits) add(x visit) {
	x.who = x.who.cut()
	select {
	case v.queue <- x:
	default:
		v.dropped.Add(1)
	}
}

// Dropped is how many visits found no room since the start and are not counted.
func (v *Visits) Dropped() int64 { return v.dropped.Load() }

// Written is how many visits were written down since the start.
func (v *Visits) Written() int64 { return v.written.Load() }

// Waiting is how many visits are to be written down.
func (v *Visits) Waiting() int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.visits + int64(len(v.queue))
}

// Gather gathers visits until ctx ends, then what is left in the queue. (Owner:
// jobs/shortlinks.) It looks now and then instead of waiting at the queue: to
// wake it would cost each visit more than all else that is done about it.
func (v *Visits) Gather(ctx context.Context) {
	look := time.NewTicker(gatherInterval)
	defer look.Stop()
	for ctx.Err() == nil {
		v.gatherAll()
		select {
		case <-look.C:
		case <-ctx.Done():
		}
	}
	v.gatherAll()
}

// gatherAll gathers what is in the queue.
func (v *Visits) gatherAll() {
	for {
		select {
		case x := <-v.queue:
			v.gather(x)
		default:
			return
		}
	}
}

func (v *Visits) gather(x visit) {
	v.mu.Lock()
	defer v.mu.Unlock()
	start := models.At(x.at.Truncate(day))
	l := v.of(x.link, start)
	if l == nil {
		v.dropped.Add(1)
		return
	}
	v.visits++
	if x.claimed {
		l.Claimed++
	}
	if x.at.After(l.Last.Time) {
		l.Last = x.at
	}
	switch v.visitors.device(x.who.UserAgent) {
	case bot:
		l.Bots++
		return // what it says of where it comes from tells nothing
	case desktop:
		l.Desktop++
	case mobile:
		l.Mobile++
	case tablet:
		l.Tablet++
	case other:
		l.Other++
	}
	if host := v.visitors.referrer(x.who.Referrer); host != "" {
		v.refer(l, host, 1)
	}
}

// of is the day of a link to count in, nil if there is no room for it.
func (v *Visits) of(link int64, start models.Time) *linkVisits {
	key := linkDay{link, start.Unix()}
	l := v.gathered[key]
	if l == nil && len(v.gathered) < maxGathered {
		l = &linkVisits{Link: link, Day: start}
		v.gathered[key] = l
	}
	return l
}

// refer counts visits that a host sent; those beyond what is kept apart are
// counted together.
func (v *Visits) refer(l *linkVisits, host string, n int64) {
	if _, known := l.Referrers[host]; !known {
		if len(l.Referrers) >= MaxReferrers || v.referrers >= maxGathered {
			host = OtherHosts
		}
		if _, known = l.Referrers[host]; !known {
			v.referrers++
		}
	}
	if l.Referrers == nil {
		l.Referrers = map[string]int64{}
	}
	l.Referrers[host] += n
}

// take is what was gathered, to be written down or given back.
func (v *Visits) take() []*linkVisits {
	v.mu.Lock()
	defer v.mu.Unlock()
	batch := make([]*linkVisits, 0, len(v.gathered))
	for _, l := range v.gathered {
		batch = append(batch, l)
	}
	clear(v.gathered)
	v.visits, v.referrers = 0, 0
	return batch
}

// giveBack adds what could not be written down to what was gathered since.
func (v *Visits) giveBack(batch []*linkVisits) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, b := range batch {
		l := v.of(b.Link, b.Day)
		if l == nil {
			v.dropped.Add(b.sum())
			continue
		}
		v.visits += b.sum()
		l.Bots += b.Bots
		l.Desktop += b.Desktop
		l.Mobile += b.Mobile
		l.Tablet += b.Tablet
		l.Other += b.Other
		l.Claimed += b.Claimed
		if b.Last.After(l.Last.Time) {
			l.Last = b.Last
		}
		for host, n := range b.Referrers {
			v.refer(l, host, n)
		}
	}
}

// WriteVisits writes down what was gathered. What the database does not take
// is gathered still, for the next time.
func (s *Store) WriteVisits(ctx context.Context) error {
	batch := s.visits.take()
	// In one order, so that instances which write the same links do not wait for each other crosswise.
	slices.SortFunc(batch, func(a, b *linkVisits) int {
		return cmp.Or(cmp.Compare(a.Link, b.Link), a.Day.Compare(b.Day.Time))
	})
	for len(batch) > 0 {
		part := batch[:min(writtenAtOnce, len(batch))]
		rows := make([]linkVisits, len(part))
		var visits int64
		for i, l := range part {
			rows[i] = *l
			visits += l.sum()
		}
		if err := s.db.Write(ctx, func(tx *gorm.DB) error { return s.writeVisits(tx, rows) }); err != nil {
			s.visits.giveBack(batch)
			return fmt.Errorf("visits of %d short links: %w", len(batch), err)
		}
		s.visits.written.Add(visits)
		batch = batch[len(part):]
	}
	return nil
}

// maxHeader is how much of a header is looked at, in bytes.
const maxHeader = 512

// cut is what is looked at of a visitor.
func (w Visitor) cut() Visitor {
	// Of a referrer the origin says it all.
	if i := strings.Index(w.Referrer, "://"); i >= 0 {
		if j := strings.IndexAny(w.Referrer[i+3:], "/?#"); j >= 0 {
			w.Referrer = w.Referrer[:i+3+j]
		}
	}
	return Visitor{Referrer: cut(w.Referrer), UserAgent: cut(w.UserAgent)}
}

func cut(s string) string { return s[:min(len(s), maxHeader)] }
