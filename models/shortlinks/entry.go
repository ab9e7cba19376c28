package shortlinks

import (
	"cmp"
	"context"
	"time"
)

// Entry is what a cache knows of a key: its destination and when it expires, or,
// as a tombstone, why it has none. It is compared with the time whenever it is
// used, so no entry outlives its link.
type Entry struct {
	LongURL     string     `json:"long_url"`
	ExpiresAt   *time.Time `json:"expires_at,omitempty"`
	CreatedAt   time.Time  `json:"created_at"`
	IsTombstone bool       `json:"is_tombstone"`
	Reason      Reason     `json:"reason,omitempty"` // of a tombstone

	Link    int64  `json:"link"`              // the short link's Seq; 0 = the key is unknown
	Title   string `json:"title,omitempty"`   // for the preview
	Limited bool   `json:"limited,omitempty"` // each visit has to be claimed in the database
	Version int64  `json:"version"`           // the short link's UpdatedAt: the greater one is the newer
}

// Reason is why a key has no destination.
type Reason string

// The reasons of tombstones.
const (
	ReasonExpired   Reason = "expired"
	ReasonExhausted Reason = "exhausted"
	ReasonDisabled  Reason = "disabled"
	ReasonDeleted   Reason = "deleted"
	ReasonBlocked   Reason = "blocked" // its destination is one that may not be linked to (any more)
	ReasonUnknown   Reason = "unknown" // there is no such short link
)

// Expired says whether the entry's link has expired by a time. It is asked on
// hits as well as on misses.
func (e Entry) Expired(now time.Time) bool { return e.ExpiresAt != nil && !now.Before(*e.ExpiresAt) }

// UnknownEntry is the entry of a key that no short link has.
func UnknownEntry() Entry { return Entry{IsTombstone: true, Reason: ReasonUnknown} }

// Compare is positive if e is newer than an entry of the same key, 0 if it is
// as new. A key that was taken anew after the reaper has a link with a greater
// Link, whatever the clocks say.
func (e Entry) Compare(to Entry) int {
	return cmp.Or(cmp.Compare(e.Link, to.Link), cmp.Compare(e.Version, to.Version))
}

// MaxStale is how old a redirect may be at most: a change shows to every
// request that is sent this long after it was acknowledged, on every instance
// and without Redis too.
const MaxStale = 2 * time.Second

// Cache keeps entries by key, for a bounded time and in bounded number. It is
// safe for concurrent use, never fails and never waits for long: what it cannot
// get it does not have. An entry never takes the place of a newer one, so that
// who read the database before a change cannot undo what came after it.
type Cache interface {
	// Get is the entry of a key, unless a change that was committed more than
	// MaxStale before now may be missing in it. It may have ended since it was put.
	Get(ctx context.Context, key string, now time.Time) (e Entry, ok bool)
	// Peek is Get of this process alone: it asks no other one, and counts neither
	// as a hit nor as a miss.
	Peek(key string, now time.Time) (e Entry, ok bool)
	// Put keeps an entry for ttl at most. read is when reading it from the database
	// began; if it is zero, the entry is no more current than the one it replaces.
	Put(ctx context.Context, key string, e Entry, ttl time.Duration, read time.Time)
	// Announce puts what a change has made, here and in every other instance
	// that can be reached. began is when the change began.
	Announce(ctx context.Context, key string, e Entry, ttl time.Duration, began time.Time)
	// Refresh replaces older entries, where there are any, with what other
	// instances may have changed unheard.
	Refresh(ctx context.Context, changes []Change)
	// Looked says that Refresh was called with all changes that were committed
	// between the last Looked and began.
	Looked(began time.Time)
}

// Change is what caches should hold of a short link that was changed, for TTL at
// most.
type Change struct {
	Key   string
	Entry Entry
	TTL   time.Duration
}
