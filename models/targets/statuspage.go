package targets

import "github.com/linkwatch/linkwatch/models"

// Limits of a status page.
const (
	MaxSlug        = 64   // bytes of lower-case letters, digits and "-"
	MaxPageTitle   = 200  // runes
	MaxPageText    = 2000 // runes of the description
	MaxPageTargets = 100  // targets on one page
	MaxStatusPages = 1000
)

// StatusPage is the public face of a group of targets.
type StatusPage struct {
	ID          string
	Slug        string // in its address: /status/{slug}; unique
	Title       string
	Description string
	CreatedAt   models.Time
	UpdatedAt   models.Time

	Targets []Target `gorm:"-"`  // in the page's order; only where a single page was asked for
	Size    int      `gorm:"->"` // how many targets it shows
}

// PageEdit is what the owner of a status page sets.
type PageEdit struct {
	Slug        string
	Title       string
	Description string
	TargetIDs   []string // in the page's order
}

// DayShare is one day of a target on a status page.
type DayShare struct {
	At models.Time // when the day began, UTC
	Share
}
