package shortlinks

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/linkwatch/linkwatch/models"
)

// MaxStale is how old a redirect may be at most: a change shows to every
// request that is sent this long after it was acknowledged, on every instance
// and without Redis too.
const MaxStale = 2 * time.Second

// maxRead is how long reading an entry may take for looks to keep it current. It
// is less than MaxStale by more than the time between two looks, so that an
// entry is under their watch before its own time is over.
const maxRead = 500 * time.Millisecond

// currency decides whether an entry of a cache may be used. Changes by others
// are found by looks at the database (Sync), and what is held is as current as
// the last one that is complete. It goes by the monotonic clock, so time that
// the process spends stopped counts, and setting the clock does not matter.
type currency struct {
	clock models.Clock
	begun time.Time
	last  atomic.Int64 // when the last complete look began
}

// validity is while what an entry may be used, in time since currency.begun.
type validity struct {
	until time.Duration // by itself
	safe  time.Duration // or while a look that began at this time or later is recent: the entry was held by then
}

// unproven is the validity of an entry that may be out of date. It only keeps
// older ones from its place.
var unproven = validity{safe: math.MaxInt64}

func newCurrency(clock models.Clock) currency { return currency{clock: clock, begun: instant(clock)} }

// of is the validity of an entry that is put now. Reading it from the database
// began at read; zero: nobody knows. Changes since then are found by every
// look from maxRead on, as those reach further back than that (lookBack). An
// entry that comes later may have missed its look.
func (c *currency) of(read time.Time) validity {
	if read.IsZero() || c.late(read) {
		return unproven
	}
	at := read.Sub(c.begun)
	return validity{until: at + MaxStale, safe: at + maxRead}
}

// ofShared is the validity of an entry that is asked for at a time of a cache
// that several instances share. It is to be called before that; ok is false if
// the entry would be of no use. The looks of this instance keep that cache current
// too, but another one may have put the entry maxRead after it was read.
func (c *currency) ofShared(now time.Time) (v validity, ok bool) {
	at := now.Sub(c.begun)
	v = validity{until: time.Duration(c.last.Load()) - maxRead + MaxStale, safe: at + maxRead}
	return v, at < v.until
}

func (c *currency) late(read time.Time) bool { return instant(c.clock).Sub(read) > maxRead }

// allows says whether an entry may be used at a time.
func (c *currency) allows(v validity, now time.Time) bool {
	at := now.Sub(c.begun)
	if at < v.until {
		return true
	}
	last := time.Duration(c.last.Load())
	return v.safe <= last && at < last+MaxStale
}

// or is the validity of an entry that is at least as new as two others.
func (v validity) or(w validity) validity {
	return validity{until: max(v.until, w.until), safe: min(v.safe, w.safe)}
}

// looked notes a complete look.
func (c *currency) looked(began time.Time) {
	at := int64(began.Sub(c.begun))
	for {
		last := c.last.Load()
		if at <= last || c.last.CompareAndSwap(last, at) {
			return
		}
	}
}

// instant is a clock's time with its monotonic part, which models.Time has not.
func instant(c models.Clock) time.Time {
	if c == nil {
		return time.Now()
	}
	return c()
}
