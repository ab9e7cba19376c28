// Package shortlinks has the types, rules and SQL of short links.
//
// Each visit compares the expiry with the current time, whatever a cache or the database
// holds. A visit never deletes and never waits for a write, except to claim a visit of a
// short link with a visit limit. The reaper moves expired short links to an archive later, in batches, and deletes them much later.
package shortlinks

import (
	"time"

	"linkwatch/models"
)

// Limits of settings.
const (
	MinKey    = 4  // characters of a key
	MaxKey    = 64 // characters of a key
	MaxTitle  = 300
	MaxVisits = 1_000_000_000
	MaxTTL    = 100 * 365 * 24 * time.Hour
)

// Status says whether a short link redirects.
type Status string

// The statuses. A short link that reached its visit limit is expired.
const (
	Active   Status = "active"
	Expired  Status = "expired"
	Disabled Status = "disabled"
)

// ParseStatus parses the query parameter "status". "" means any.
func ParseStatus(s string) (Status, error) {
	switch s := Status(s); s {
	case "", Active, Expired, Disabled:
		return s, nil
	}
	return "", models.Invalid("query.status", "must be active, expired or disabled")
}

// ShortLink is one short link.
type ShortLink struct {
	Seq           int64  `gorm:"primaryKey"`
	Key           string `gorm:"column:short_key"`
	LongURL       string // as entered
	CanonicalURL  string
	Title         string
	SearchText    string // text that a search matches
	MaxVisits     int64  // 0: no limit
	Disabled      bool
	CreatedAt     models.Time
	UpdatedAt     models.Time // last change of a setting
	Version       int64       // version of the last change, see Store.newVersion
	ExpiresAt     models.Time // zero: never
	ExhaustedAt   models.Time // when the visit limit was reached; zero: not yet
	DeletedAt     models.Time
	Owner         string // who added it
	PrivateTo     string // see models.PrivateTo; redirects work either way
	Visits        int64  // a few seconds old, unless there is a visit limit
	Bots          int64  // requests by bots, which are no visits
	Previews      int64  // HEAD requests, prefetches and link previews, which are no visits
	LastVisitedAt models.Time

	archived bool // it is in the archive, so it is expired
}

// TableName implements GORM's Tabler.
func (ShortLink) TableName() string { return "short_links" }

// Private reports whether only the owner and admins see the short link.
func (l ShortLink) Private() bool { return l.PrivateTo != "" }

// DisplayTitle returns the title, or the key if there is none.
func (l ShortLink) DisplayTitle() string {
	if l.Title != "" {
		return l.Title
	}
	return l.Key
}

// Status returns the status at a time. A disabled short link is Disabled even if it has
// expired.
func (l ShortLink) Status(now models.Time) Status {
	switch {
	case l.Disabled:
		return Disabled
	case l.ended(now):
		return Expired
	}
	return Active
}

// ended reports whether the short link has expired at a time or reached its visit limit.
func (l ShortLink) ended(now models.Time) bool { return l.LimitReached() || l.expiredAt(now) }

// EndedAt returns when an expired short link expired or reached its visit limit, whichever was first.
func (l ShortLink) EndedAt() models.Time {
	if l.ExpiresAt.IsZero() || !l.ExhaustedAt.IsZero() && l.ExhaustedAt.Before(l.ExpiresAt.Time) {
		return l.ExhaustedAt
	}
	return l.ExpiresAt
}

// LimitReached reports whether the visit limit is reached.
func (l ShortLink) LimitReached() bool { return l.MaxVisits > 0 && l.Visits >= l.MaxVisits }

// expiredAt reports whether the short link has expired at a time, ExpiresAt included.
func (l ShortLink) expiredAt(now models.Time) bool {
	return !l.ExpiresAt.IsZero() && !now.Before(l.ExpiresAt.Time)
}

// New is a short link to add.
type New struct {
	LongURL        string
	Key            string        // "": generated
	ExpiresAt      models.Time   // zero: never
	TTL            time.Duration // instead of ExpiresAt; 0: none
	MaxVisits      int64         // 0: no limit
	Title          string
	Private        bool   // visible to the owner and admins only
	IdempotencyKey string // "" = none
}

// Edit is a change of settings. nil leaves a setting as it is.
type Edit struct {
	LongURL   *string
	ExpiresAt *models.Time // zero: never
	MaxVisits *int64       // 0: no limit
	Title     *string
	Disabled  *bool
	Private   *bool
}

// Filter chooses short links.
type Filter struct {
	Status Status // "" = any
	Text   string // part of the key, title or URL; "" = any
	Newest bool   // newest first instead of oldest first
}
