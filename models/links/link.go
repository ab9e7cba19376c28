// Package links holds saved links and their tags: types, rules and SQL. Pages
// and API both call it, so each rule is here once.
package links

import "linkwatch/models"

// Health is the result of the last checks of a link.
type Health string

// The healths of a link.
const (
	Unchecked Health = "unchecked" // never fetched: it came by a bulk store
	OK        Health = "ok"
	Moved     Health = "moved"   // a permanent redirect; MovedTo is offered, not applied
	Blocked   Health = "blocked" // 401, 403, 429, or a private address: Linkwatch may not look, people may get in
	Suspect   Health = "suspect" // DNS, TLS, 5xx, time-out: may pass
	Dead      Health = "dead"    // suspect three times in a row on different days, or 404/410
)

// Healths are all of them, the ones that need attention first.
var Healths = []Health{Dead, Suspect, Moved, Blocked, OK, Unchecked}

// Limits of a link's parts.
const (
	MaxTags      = 64     // on one link
	MaxTagLength = 64     // runes
	MaxTitle     = 500    // runes of an own title; fetched ones are trimmed to it
	MaxNotes     = 10_000 // runes
	MaxOwner     = 100    // runes
	MaxBulk      = 500    // links in one bulk action
)

// OpenGraph is what a page says of itself to those who link to it.
// An empty member was not given.
type OpenGraph struct {
	Title       string
	Description string
	Image       string // absolute http or https URL
	SiteName    string
	Type        string
}

// Link is a saved link.
type Link struct {
	Seq          int64 `gorm:"primaryKey"` // the store's own key: newer links have greater ones
	ID           string
	URL          string // as it was given
	CanonicalURL string // unique among the links with the same PrivateTo
	Title        string // what is shown: the owner's title, else the fetched one; may be ""
	OwnTitle     string
	FetchedTitle string
	OpenGraph    OpenGraph `gorm:"embedded;embeddedPrefix:og_"`
	Owner        string    // who added it; it never changes
	PrivateTo    string    // models.PrivateTo
	Notes        string
	CreatedAt    models.Time
	UpdatedAt    models.Time // of the record; views and checks that change nothing leave it
	ExpiredAt    models.Time // zero: active
	ViewCount    int64

	Health          Health
	HealthChangedAt models.Time
	LastCheckedAt   models.Time // zero: never
	LastStatusCode  int         // 0: no answer yet, or none at all
	LastError       string      // short and stable: "host not found"; "" after an answer
	MovedTo         string      // where a permanent redirect leads, while Health is Moved
	Failures        int         // days in a row on which the check failed
	NextCheckAt     models.Time // zero: not to be checked (expired)

	Tags []string `gorm:"-"` // names in their stored casing, in the order they were added

	tagEnd int // the position of the next tag in link_tags
}

// DisplayTitle is the link's title, or its URL if it has none.
func (l Link) DisplayTitle() string {
	if l.Title != "" {
		return l.Title
	}
	return l.URL
}

// Expired says whether the link is hidden from the lists as dead.
func (l Link) Expired() bool { return !l.ExpiredAt.IsZero() }

// Private says whether only its owner and admins see the link.
func (l Link) Private() bool { return l.PrivateTo != "" }

// Tag is a word that links are filed under. The namespace is global; names
// match whatever their case and keep the casing first stored.
type Tag struct {
	Seq        int64 `gorm:"primaryKey"`
	ID         string
	Name       string
	FoldedName string // the name as it is compared; unique
	LinkCount  int    // active links that carry it, of those that the reader sees; so are the times
	CreatedAt  models.Time
	LastUsedAt models.Time // when it was last put on a link
}

// Shown says which links a list shows by their expiry.
type Shown string

// The values of the parameter "expired".
const (
	ShowActive  Shown = ""
	ShowExpired Shown = "true"
	ShowAll     Shown = "all"
	ShowRecent  Shown = "recent" // those that expired within the last RecentDays
)

// RecentDays is for how many days an expired link is recent.
const RecentDays = 7

// ParseShown reads the parameter "expired"; "false" is the same as nothing.
func ParseShown(s string) (Shown, error) {
	switch s {
	case "", "false":
		return ShowActive, nil
	case "true":
		return ShowExpired, nil
	case "all":
		return ShowAll, nil
	case "recent":
		return ShowRecent, nil
	}
	return "", models.Invalid("query.expired", "must be true, false, all or recent")
}

// ParseHealth reads a health; "" means any.
func ParseHealth(s string) (Health, error) {
	if s == "" {
		return "", nil
	}
	for _, h := range Healths {
		if string(h) == s {
			return h, nil
		}
	}
	return "", models.Invalid("query.health", "must be one of dead, suspect, moved, blocked, ok, unchecked")
}

// Filter selects links for a list. Its zero value is all active links.
type Filter struct {
	Query  string // in the language of ParseQuery; "" = any
	Tag    string // the name of one tag, whole; "" = any
	Health Health // "" = any
	Shown  Shown
}

// New is a link to add.
type New struct {
	URL     string
	Tags    []string
	Owner   string // "" = who adds it. Where people sign in, only admins may name somebody else
	Notes   string
	Title   string // the owner's own; "" = the fetched one
	Private bool   // only its owner and admins see it
	// Force stores the link even if its page cannot be fetched or does not answer
	// 200. Import never fetches and ignores it.
	Force bool

	// CreatedAt is when it was saved elsewhere; zero = now. Lists show the
	// links stored last first, so the oldest are to be stored first.
	CreatedAt models.Time
}

// Edit changes what the owner sets of a link. A nil member stays as it
// is; an empty text is cleared.
type Edit struct {
	Title   *string
	Notes   *string
	Private *bool
}

// Counts are the sizes of the collection.
type Counts struct {
	Active, Expired, Tags int
	Health                map[Health]int // active links, by health
}

// Change is one action that was done to one or many links.
type Change struct {
	ID        string
	Action    string // ActionDelete, ActionExpire and so on
	Links     int    // how many it touched; 0: nothing to undo, and no ID
	CreatedAt models.Time
}

// Refresh is a batch of links whose metadata is refetched in the background.
type Refresh struct {
	ID        string
	Total     int
	Done      int // those tried, the failed ones too
	Failed    int
	CreatedAt models.Time
}

// Finished says whether every link of the batch was tried.
func (r Refresh) Finished() bool { return r.Done >= r.Total }
