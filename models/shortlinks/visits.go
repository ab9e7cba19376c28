package shortlinks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/useragent"
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
	Claimed                              int64  // of all of these
	Referrers                            []sent // of people whom one sent
	Last                                 models.Time
}

// sent are the visits that a host sent. They are few enough to be looked
// through, and a map for each link would take more memory than all the rest.
type sent struct {
	Host string
	N    int64
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
	case useragent.Bot:
		l.Bots++
		return // what it says of where it comes from tells nothing
	case useragent.Desktop:
		l.Desktop++
	case useragent.Mobile:
		l.Mobile++
	case useragent.Tablet:
		l.Tablet++
	case useragent.Other:
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
	at := l.referrer(host)
	if at < 0 && (len(l.Referrers) >= MaxReferrers || v.referrers >= maxGathered) {
		host = OtherHosts
		at = l.referrer(host)
	}
	if at < 0 {
		l.Referrers = append(l.Referrers, sent{Host: host})
		at = len(l.Referrers) - 1
		v.referrers++
	}
	l.Referrers[at].N += n
}

// referrer is the place of a host in Referrers, negative if it has none.
func (v *linkVisits) referrer(host string) int {
	return slices.IndexFunc(v.Referrers, func(s sent) bool { return s.Host == host })
}

// days is how many days of links are gathered.
func (v *Visits) days() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.gathered)
}

// take is some of what was gathered, n days of links at most, to be written
// down or given back.
func (v *Visits) take(n int) []*linkVisits {
	v.mu.Lock()
	defer v.mu.Unlock()
	batch := make([]*linkVisits, 0, min(n, len(v.gathered)))
	for key, l := range v.gathered {
		if len(batch) == n {
			break
		}
		delete(v.gathered, key)
		v.visits -= l.sum()
		v.referrers -= len(l.Referrers)
		batch = append(batch, l)
	}
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
		for _, r := range b.Referrers {
			v.refer(l, r.Host, r.N)
		}
	}
}

// WriteVisits writes down what was gathered until now. What the database does
// not take is gathered still, for the next time, and so is what there is no
// transaction for yet: it goes on to add up, in the place that it has.
func (s *Store) WriteVisits(ctx context.Context) error {
	for left := s.visits.days(); left > 0; left -= writtenAtOnce {
		batch := s.visits.take(writtenAtOnce)
		rows := make([]linkVisits, len(batch))
		var visits int64
		for i, l := range batch {
			rows[i] = *l
			visits += l.sum()
		}
		if err := s.db.Write(ctx, func(tx *gorm.DB) error { return s.writeVisits(tx, rows) }); err != nil {
			s.visits.giveBack(batch)
			return fmt.Errorf("visits of short links: %w", err)
		}
		s.visits.written.Add(visits)
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
