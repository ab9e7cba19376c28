package shortlinks

import (
	"context"
	"time"
)

// Entry is the cached state of a key: its destination and expiry or, as a tombstone, why
// it has none. Each use compares it with the current time, so no entry outlives its short
// link.
type Entry struct {
	LongURL     string     `json:"long_url"`
	ExpiresAt   *time.Time `json:"expires_at,omitempty"`
	CreatedAt   time.Time  `json:"created_at"`
	IsTombstone bool       `json:"is_tombstone"`
	Reason      Reason     `json:"reason,omitempty"` // of a tombstone

	Link    int64  `json:"link"`              // the short link's Seq; 0 = the key is unknown
	Title   string `json:"title,omitempty"`   // for the preview
	Limited bool   `json:"limited,omitempty"` // each visit must be claimed in the database
	Version int64  `json:"version"`           // the short link's
}

// Reason says why a key has no destination.
type Reason string

// The reasons of tombstones.
const (
	ReasonExpired   Reason = "expired"
	ReasonExhausted Reason = "exhausted"
	ReasonDisabled  Reason = "disabled"
	ReasonDeleted   Reason = "deleted"
	ReasonBlocked   Reason = "blocked" // its destination is not allowed
	ReasonUnknown   Reason = "unknown" // there is no such short link
)

// Expired reports whether the short link has expired at a time. It is called on cache
// hits and misses alike.
func (e Entry) Expired(now time.Time) bool { return e.ExpiresAt != nil && !now.Before(*e.ExpiresAt) }

// UnknownEntry returns the entry of a key without a short link.
func UnknownEntry() Entry { return Entry{IsTombstone: true, Reason: ReasonUnknown} }

// MaxStale is the maximum age of a redirect. A request sent this long after a change was
// acknowledged shows the change, on every instance, with or without Redis.
const MaxStale = 2 * time.Second

// Cache holds a limited number of entries for a limited time. It is safe for concurrent
// use.
type Cache interface {
	// Get returns the entry of a key. It contains all changes committed more than MaxStale
	// before now, but may have expired since. On a miss it calls load, once for concurrent
	// calls with the same key. It can wait for other keys to be loaded together.
	Get(ctx context.Context, key string, now time.Time, load Load) (Entry, error)
	// Announce replaces the entry of a key after a change, here and on all reachable
	// instances. started is when the change started.
	Announce(ctx context.Context, key string, e Entry, ttl time.Duration, started time.Time)
	// End replaces the entry with a version by a tombstone: the short link expired,
	// reached its visit limit or no longer exists.
	End(key string, version int64, tombstone Entry, ttl time.Duration)
}

// Load reads the entries of different keys from the database, in the same order.
type Load func(ctx context.Context, keys []string) ([]Loaded, error)

// Loaded is an entry that a cache can keep for TTL.
type Loaded struct {
	Entry
	TTL time.Duration
}

// Change is a changed key and the version of its newest change.
type Change struct {
	Key     string
	Version int64
}
