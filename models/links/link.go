// Package links stores saved links and their tags. It has the types, the rules and the SQL that pages and API share.
package links

import "linkwatch/models"

// Health is the result of the last checks of a link.
type Health string

// Values of Health.
const (
	Unchecked Health = "unchecked" // not checked yet
	OK        Health = "ok"
	Moved     Health = "moved"   // permanent redirect to MovedTo
	Blocked   Health = "blocked" // 401, 403, 429, other 4xx, or a private address: the page may work for users
	Suspect   Health = "suspect" // DNS, TLS, 5xx or timeout: may be temporary
	Dead      Health = "dead"    // suspect on DeadAfter days in a row, or 404 or 410
)

// Healths are all values, those that need attention first.
var Healths = []Health{Dead, Suspect, Moved, Blocked, OK, Unchecked}

// Limits of a link.
const (
	MaxTags      = 64     // per link
	MaxTagLength = 64     // runes
	MaxTitle     = 500    // runes; fetched titles are truncated
	MaxNotes     = 10_000 // runes
	MaxOwner     = 100    // runes
	MaxBulk      = 500    // links per bulk action
)

// OpenGraph is the OpenGraph metadata of a page. Missing properties are empty.
type OpenGraph struct {
	Title       string
	Description string
	Image       string // absolute http or https URL
	SiteName    string
	Type        string
}

// Link is a saved link.
type Link struct {
	Seq          int64 `gorm:"primaryKey"` // internal key; newer links have greater keys
	ID           string
	URL          string // as entered
	CanonicalURL string // unique among the links with the same PrivateTo
	Title        string // OwnTitle, else FetchedTitle; may be ""
	OwnTitle     string // set by the owner
	FetchedTitle string
	// FetchedDescription is Page.Description. "" = none, or the page was last read by a version that did not store it.
	FetchedDescription string
	OpenGraph          OpenGraph `gorm:"embedded;embeddedPrefix:og_"`
	Owner              string    // username of the account that added it; never changes
	PrivateTo          string    // owner of a private link, "" if it is shared (models.PrivateTo)
	Notes              string
	CreatedAt          models.Time
	UpdatedAt          models.Time // not changed by views, or by checks without a change
	ExpiredAt          models.Time // zero: active
	ViewCount          int64

	Health          Health
	HealthChangedAt models.Time
	LastCheckedAt   models.Time // zero: never
	LastStatusCode  int         // 0: no response
	LastError       string      // short fixed text: "host not found"; "" if the last check succeeded
	MovedTo         string      // destination of the permanent redirect if Health is Moved
	Failures        int         // consecutive days with failed checks
	NextCheckAt     models.Time // zero: expired, not checked

	Tags []string `gorm:"-"` // names in the order they were added

	tagEnd int // link_tags.position of the next tag
}

// DisplayTitle returns the title, or the URL if there is none.
func (l Link) DisplayTitle() string {
	if l.Title != "" {
		return l.Title
	}
	return l.URL
}

// Expired reports whether the link is expired: lists hide it, and it is not checked.
func (l Link) Expired() bool { return !l.ExpiredAt.IsZero() }

// Private reports whether only the owner and admins see the link.
func (l Link) Private() bool { return l.PrivateTo != "" }

// Tag is a tag of links. Names are unique as models.FoldName compares them. The first spelling is kept.
type Tag struct {
	Seq        int64 `gorm:"primaryKey"`
	ID         string
	Name       string
	FoldedName string // unique (models.FoldName)
	LinkCount  int    // active links that the actor sees; the times are those of visible links too
	CreatedAt  models.Time
	LastUsedAt models.Time // when it was last added to a link
}

// Shown filters a list by expiry.
type Shown string

// Values of the query parameter "expired".
const (
	ShowActive  Shown = ""
	ShowExpired Shown = "true"
	ShowAll     Shown = "all"
	ShowRecent  Shown = "recent" // expired within the last RecentDays
)

// RecentDays is the number of days for which an expired link is recent.
const RecentDays = 7

// ParseShown parses the query parameter "expired". "false" is the same as "".
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

// ParseHealth parses a health. "" means any.
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

// Filter selects the links of a list. The zero value selects all active links.
type Filter struct {
	Query  string // see ParseQuery; "" = any
	Tag    string // name of a tag; "" = any
	Health Health // "" = any
	Shown  Shown
}

// New is a link to add.
type New struct {
	URL     string
	Tags    []string
	Owner   string // "" = the actor. If there are accounts, only admins may set another owner
	Notes   string
	Title   string // "" = the fetched title
	Private bool   // only the owner and admins see it
	// Fetched is the result of Preview for the same URL, which saves another request; "" = none. An invalid one is ignored.
	Fetched string
	// Force stores the link even if its page cannot be fetched or does not return 200. Import ignores it.
	Force bool

	// CreatedAt is when the link was saved in another program; zero = now. Lists are sorted by the order of
	// insertion, so store the oldest links first.
	CreatedAt models.Time
}

// Edit is a change of a link. Nil fields do not change, empty text is cleared.
type Edit struct {
	Title   *string
	Notes   *string
	Private *bool
}

// Counts are numbers of links and tags.
type Counts struct {
	Active, Expired, Tags int
	Health                map[Health]int // active links by health
}

// Change is an action on links that can be undone.
type Change struct {
	ID        string
	Action    string // ActionDelete, ActionExpire, …
	Links     int    // number of changed links; if 0, there is no ID and nothing to undo
	CreatedAt models.Time
}

// Refresh is a batch of links that are refreshed in the background.
type Refresh struct {
	ID        string
	Total     int
	Done      int // including failed ones
	Failed    int
	CreatedAt models.Time
}

// Finished reports whether all links of the batch are done.
func (r Refresh) Finished() bool { return r.Done >= r.Total }
