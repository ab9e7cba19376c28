// Package shortlinks holds the types, rules and SQL of short links: the destination
// of a key, its visits, and when it is deleted.
//
// Whether a link has expired is decided by the time of each visit, whatever a cache
// or the database still holds. A visit neither deletes nor waits for a write, except
// to claim one of a limited number of visits. The reaper deletes expired links
// later, in batches.
package shortlinks

import (
	"time"

	"linkwatch/models"
)

// Limits of what an owner sets.
const (
	MinKey    = 4  // characters of a key
	MaxKey    = 64 // characters of a key
	MaxTitle  = 300
	MaxVisits = 1_000_000_000
	MaxTTL    = 100 * 365 * 24 * time.Hour
)

// Status says whether a short link redirects, and if not, why.
type Status string

// The statuses. A link whose visits are used up is expired.
const (
	Active   Status = "active"
	Expired  Status = "expired"
	Disabled Status = "disabled"
)

// ParseStatus reads the parameter "status"; "" means any.
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
	LongURL       string // as it was given
	CanonicalURL  string
	Title         string
	SearchText    string // what a search looks into
	MaxVisits     int64  // 0 = any number
	Disabled      bool
	CreatedAt     models.Time
	UpdatedAt     models.Time // of what its owner set
	Version       int64       // of the last change of what its owner set; see Store.newVersion
	ExpiresAt     models.Time // zero: never
	ExhaustedAt   models.Time // when the last of MaxVisits was made; zero: not yet
	DeletedAt     models.Time
	Owner         string // who added it
	PrivateTo     string // see models.PrivateTo; visitors are redirected either way
	Visits        int64  // those of bots too; seconds late, unless there is a MaxVisits
	Bots          int64  // of the Visits
	LastVisitedAt models.Time
}

// TableName is GORM's.
func (ShortLink) TableName() string { return "short_links" }

// Private says whether only the owner and admins see the short link.
func (l ShortLink) Private() bool { return l.PrivateTo != "" }

// DisplayTitle returns the short link's title, or its key if it has none.
func (l ShortLink) DisplayTitle() string {
	if l.Title != "" {
		return l.Title
	}
	return l.Key
}

// Status returns the link's status at a time. A link that its owner disabled is
// Disabled, whether it has expired as well or not.
func (l ShortLink) Status(now models.Time) Status {
	switch {
	case l.Disabled:
		return Disabled
	case l.UsedUp(), l.endsBefore(now):
		return Expired
	}
	return Active
}

// UsedUp reports whether there were MaxVisits visits.
func (l ShortLink) UsedUp() bool { return l.MaxVisits > 0 && l.Visits >= l.MaxVisits }

// endsBefore reports whether the link has expired by a time. It expires at the very
// instant of ExpiresAt.
func (l ShortLink) endsBefore(now models.Time) bool {
	return !l.ExpiresAt.IsZero() && !now.Before(l.ExpiresAt.Time)
}

// New is a short link to add.
type New struct {
	LongURL        string
	Key            string        // "": one is generated
	ExpiresAt      models.Time   // zero: never
	TTL            time.Duration // instead of ExpiresAt; 0: never
	MaxVisits      int64         // 0 = any number
	Title          string
	Private        bool   // only its owner, who adds it, and admins see it
	IdempotencyKey string // "" = none
}

// Edit changes what is not nil.
type Edit struct {
	LongURL   *string
	ExpiresAt *models.Time // zero: never
	MaxVisits *int64       // 0 = any number
	Title     *string
	Disabled  *bool
	Private   *bool
}

// Filter chooses short links.
type Filter struct {
	Status Status // "" = any
	Text   string // part of the key, the title or the address; "" = any
	Newest bool   // the newest first instead of the oldest
}
