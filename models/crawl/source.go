// Package crawl stores the sites to crawl (sources), their jobs and executions, the frontier, and the results of crawls. It
// has the types, rules and SQL that pages, API and crawler share.
package crawl

import (
	"cmp"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"

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

// Domains are lower-case host names. Each includes its subdomains.
type Domains []string

// Value implements driver.Valuer.
func (d Domains) Value() (driver.Value, error) { return strings.Join(d, " "), nil }

// Scan implements sql.Scanner.
func (d *Domains) Scan(src any) error {
	switch v := src.(type) {
	case string:
		*d = strings.Fields(v)
	case []byte:
		*d = strings.Fields(string(v))
	default:
		return fmt.Errorf("domains are a %T, want text", src)
	}
	return nil
}

// GormDataType returns the type of the column.
func (Domains) GormDataType() string { return "text" }

// allow reports whether a host is one of the domains or a subdomain. Without domains, only start is allowed, the host of the
// start page, with or without "www.".
func (d Domains) allow(host, start string) bool {
	if len(d) == 0 {
		return strings.TrimPrefix(host, "www.") == strings.TrimPrefix(start, "www.")
	}
	return slices.ContainsFunc(d, func(domain string) bool {
		rest, ok := strings.CutSuffix(host, domain)
		return ok && (rest == "" || strings.HasSuffix(rest, "."))
	})
}

// NewSource is a source to add.
type NewSource struct {
	ExternalID     string
	Name           string // "" = the host of the URL
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
	s.URL, s.Host = u.Given, u.Host
	if s.Name = models.CleanLine(s.Name); s.Name == "" {
		s.Name = s.Host
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

func (s *Source) checkDomains() error {
	if len(s.AllowedDomains) > MaxDomains {
		return models.TooLong("allowed_domains", MaxDomains, "domains")
	}
	domains := make(Domains, 0, len(s.AllowedDomains))
	for i, d := range s.AllowedDomains {
		name, ok := models.CanonicalHost(strings.TrimPrefix(strings.TrimSpace(d), "*."))
		if !ok {
			return models.Invalid(fmt.Sprintf("allowed_domains[%d]", i), "must be a host name such as example.com")
		}
		if !slices.Contains(domains, name) {
			domains = append(domains, name)
		}
	}
	if len(domains) > 0 && !domains.allow(s.Host, s.Host) {
		return models.Invalid("allowed_domains", "must include the host of the URL")
	}
	s.AllowedDomains = domains
	return nil
}
