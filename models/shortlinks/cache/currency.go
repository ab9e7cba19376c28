package cache

import (
	"math"
	"sync/atomic"
	"time"

	"linkwatch/models"
	"linkwatch/models/shortlinks"
)

// maxRead is how long reading an entry may take if looks are to keep it current.
// The next look begins and ends between maxRead and shortlinks.MaxStale, so an entry that
// is asked for all the time is not read again.
const maxRead = 500 * time.Millisecond

// currency decides whether an entry of a cache may be used. Looks at the
// database (Sync) find the changes of other instances, so the cache is as
// current as the last complete look. Times are compared by the monotonic clock:
// it runs on while the process is stopped, and it cannot be set.
type currency struct {
	clock models.Clock
	begun time.Time
	last  atomic.Int64 // when the last complete look began
}

// validity is when an entry may be used. Its times count from currency.begun.
type validity struct {
	until time.Duration // the entry is recent until then
	safe  time.Duration // looks that begin at this time or later keep it current
}

// unproven is the validity of an entry that may be out of date. It is not used,
// but keeps older entries out of the cache.
var unproven = validity{safe: math.MaxInt64}

func newCurrency(clock models.Clock) currency { return currency{clock: clock, begun: clock.Instant()} }

// of is the validity of an entry that is put now. Reading it from the database
// began at read; zero means unknown. A look that begins maxRead after that or later
// finds the entry in the cache, and finds all changes since read (lookBack). An
// entry that is put later than that may have missed its look.
func (c *currency) of(read time.Time) validity {
	if read.IsZero() || c.late(read) {
		return unproven
	}
	at := read.Sub(c.begun)
	return validity{until: at + shortlinks.MaxStale, safe: at + maxRead}
}

// ofShared is the validity of an entry that is about to be read from the cache
// of several instances; ok is false if it could not be used. The looks of this
// instance keep that cache current too, but another instance may have put the
// entry there up to maxRead after reading it.
func (c *currency) ofShared(now time.Time) (v validity, ok bool) {
	at := now.Sub(c.begun)
	v = validity{until: time.Duration(c.last.Load()) - maxRead + shortlinks.MaxStale, safe: at + maxRead}
	return v, at < v.until
}

func (c *currency) late(read time.Time) bool { return c.clock.Instant().Sub(read) > maxRead }

// allows says whether an entry may be used at a time.
func (c *currency) allows(v validity, now time.Time) bool {
	at := now.Sub(c.begun)
	if at < v.until {
		return true
	}
	last := time.Duration(c.last.Load())
	return v.safe <= last && at < last+shortlinks.MaxStale
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
