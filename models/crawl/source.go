// Package crawl stores the sites to crawl (sources), their jobs and executions, the frontier, and the results of crawls. It
// has the types, rules and SQL that pages, API and crawler share.
package crawl

import (
	"cmp"

	"linkwatch/models"
)

// Limits and defaults of sources.
const (
	MaxName      = 200 // runes
	DefaultDepth = 3   // of a source without max_depth
	DeepCrawl    = 5   // deeper crawls cause a warning: they may grow without end
	MaxDepth     = 100
	MaxDomains   = 50
	MaxRateLimit = 60 * 60 * 1000 // milliseconds
	// DefaultRateLimit is the default pause between two requests to a host, in milliseconds.
	DefaultRateLimit = 1000
)

// Source is a site that jobs crawl.
type Source struct {
	Seq            int64 `gorm:"primaryKey"` // internal key
	ID             string
	ExternalID     string // id in the source manager; "" = not synced
	Owner          string // who added it
	PrivateTo      string // its owner; "" = shared with all accounts
	Name           string
	URL            string // as given
	Host           string // of the URL, without port
	Port           int    // of the URL; 0 = 80 or 443
	SearchText     string // normalized name and URL for searches
	Enabled        bool
	MaxDepth       int // links from the start page; 0 = DefaultDepth
	AllowedDomains Domains
	RateLimitMS    int // pause between two requests to a host
	IntervalCount  int // of jobs created for it; 0 = none
	IntervalType   IntervalType
	CreatedAt      models.Time
	UpdatedAt      models.Time
	DeletedAt      models.Time // zero: not deleted
}

// Interval returns the interval of jobs that are created for the source.
func (s Source) Interval() Interval { return Interval{s.IntervalCount, s.IntervalType} }

// Private reports whether only the owner and admins can see the source.
func (s Source) Private() bool { return s.PrivateTo != "" }

// Depth returns the maximum number of links from the start page that a crawl follows.
func (s Source) Depth() int { return depthOf(s.MaxDepth) }

func depthOf(maxDepth int) int { return cmp.Or(maxDepth, DefaultDepth) }

// NewSource is a source to add.
type NewSource struct {
	ExternalID     string
	Name           string // "" = the host of the URL, with its port
	URL            string
	Enabled        bool
	MaxDepth       int
	AllowedDomains []string
	RateLimitMS    *int // nil = DefaultRateLimit
	Interval       Interval
	Private        bool // visible only to its owner and admins
}

// SourceEdit changes the settings of a source. A nil field leaves the setting unchanged.
type SourceEdit struct {
	Name           *string
	URL            *string
	Enabled        *bool
	MaxDepth       *int
	AllowedDomains *[]string
	RateLimitMS    *int
	Interval       *Interval
	Private        *bool // may be set by its owner and admins
}

// check validates and normalizes the settings of the source.
func (s *Source) check() error {
	u, wrong := models.ParseURL("url", s.URL)
	s.URL, s.Host, s.Port = u.Given, u.Host, authorityOf(u.Canonical).port
	if s.Name = models.CleanLine(s.Name); s.Name == "" {
		s.Name = s.Authority()
	}
	s.SearchText = models.Fold(s.Name + " " + u.Canonical)
	if s.IntervalType == "" {
		s.IntervalType = Minutes
	}
	errs := []error{wrong}
	if wrong == nil {
		errs = append(errs, s.checkDomains())
	}
	if models.Runes(s.Name) > MaxName {
		errs = append(errs, models.TooLong("name", MaxName, "characters"))
	}
	if s.MaxDepth < 0 || s.MaxDepth > MaxDepth {
		errs = append(errs, models.Invalid("max_depth", "must be a whole number from 0 to %d; 0 means %d", MaxDepth, DefaultDepth))
	}
	if s.RateLimitMS < 0 || s.RateLimitMS > MaxRateLimit {
		errs = append(errs, models.OutOfRange("rate_limit_ms", "milliseconds", 0, MaxRateLimit))
	}
	return models.Invalids(errs...)
}
