package shortlinks

import (
	"context"
	"time"
)

// Entry is what a cache holds of a key: its destination and when it expires or,
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
	Version int64  `json:"version"`           // the short link's
}

// Reason is why a key has no destination.
type Reason string

// The reasons of tombstones.
const (
	ReasonExpired   Reason = "expired"
	ReasonExhausted Reason = "exhausted"
	ReasonDisabled  Reason = "disabled"
	ReasonDeleted   Reason = "deleted"
	ReasonBlocked   Reason = "blocked" // its destination is not allowed, or no longer allowed
	ReasonUnknown   Reason = "unknown" // there is no such short link
)

// Expired reports whether the entry's link has expired by a time. It is called on
// cache hits as well as on misses.
func (e Entry) Expired(now time.Time) bool { return e.ExpiresAt != nil && !now.Before(*e.ExpiresAt) }

// UnknownEntry returns the entry of a key that no short link has.
func UnknownEntry() Entry { return Entry{IsTombstone: true, Reason: ReasonUnknown} }

// MaxStale is how old a redirect may be: a request that is sent this long after a
// change was acknowledged shows the change, on every instance, with or without Redis.
const MaxStale = 2 * time.Second

// Cache holds entries by key, for a limited time and in limited number. It is safe
// for concurrent use.
type Cache interface {
	// Get returns the entry of a key. No change that was committed more than
	// MaxStale before now is missing in it, but it may have expired since it was
	// read. On a cache miss it comes from load, which calls for the same key share.
	Get(ctx context.Context, key string, now time.Time, load Load) (Entry, error)
	// Announce replaces the entry of a key after a change, here and on every other
	// instance that can be reached. began is when the change began.
	Announce(ctx context.Context, key string, e Entry, ttl time.Duration, began time.Time)
	// End replaces the entry that has a version by a tombstone: its link expired, its
	// visits are used up, or the database no longer has it.
	End(key string, version int64, tombstone Entry, ttl time.Duration)
}

// Load reads the entry of a key from the database. ttl is how long a cache may keep it.
type Load func(ctx context.Context, key string) (e Entry, ttl time.Duration, err error)

// Change is a short link's key and the version that its newest change gave it.
type Change struct {
	Key     string
	Version int64
}
