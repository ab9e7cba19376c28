// Package targets stores targets, their checks and their history. It has the rules that
// pages, API and checker share.
package targets

import (
	"cmp"
	"strings"

	"linkwatch/models"
	"linkwatch/models/lease"
)

// Status is the status of a target.
type Status string

// The statuses of a target.
const (
	Pending Status = "pending" // no result yet, or none since it was resumed
	Up      Status = "up"
	Down    Status = "down"
	Paused  Status = "paused"
)

// Statuses is all statuses, those that need attention first.
var Statuses = []Status{Down, Pending, Up, Paused}

// ParseStatus parses the parameter "status"; "" means any.
func ParseStatus(s string) (Status, error) {
	if s == "" {
		return "", nil
	}
	for _, known := range Statuses {
		if string(known) == s {
			return known, nil
		}
	}
	return "", models.Invalid("query.status", "must be one of down, pending, up, paused")
}

// Limits of a target's parts.
const (
	MaxName     = 200            // runes
	MaxInterval = 30 * 24 * 3600 // seconds
)

// Target is a URL that is checked on a schedule.
type Target struct {
	Seq int64 `gorm:"primaryKey"` // primary key

	// Settings.
	ID              string
	URL             string // as entered
	CanonicalURL    string // unique among the targets of a PrivateTo that are not deleted
	Host            string // lower-case, without port
	Name            string // "" = none
	SearchText      string // name and URL, folded for the search
	IntervalSeconds int    // 0 = CHECK_INTERVAL
	Expect          Expect `gorm:"embedded;embeddedPrefix:expect_"`
	Paused          bool
	CreatedAt       models.Time
	UpdatedAt       models.Time // of the settings; checks do not change it
	DeletedAt       models.Time // zero: not deleted

	Owner     string // who added it
	PrivateTo string // see models.PrivateTo

	Schedule

	// Results of checks.
	State          Status      // Pending, Up or Down; see Status
	StateSince     models.Time // start of the first check with this state
	LastCheckedAt  models.Time // zero: never
	LastStatusCode int         // 0: no response
	LastLatencyMS  int
	LastError      string // short and stable: "unexpected status 404"; "" = none
	Failures       int    // in a row
	TLSExpiresAt   models.Time
	KnownUntil     models.Time  // how long the last result counts towards uptime; zero: it does not
	RecentChecks   RecentChecks // the last checks, the newest last

	Hour Rollup `gorm:"embedded;embeddedPrefix:hour_"` // of the current hour
	Day  Rollup `gorm:"embedded;embeddedPrefix:day_"`  // of the ended hours of the current day

	Late  Late `gorm:"-"` // set by Get, ByURL and List
	Stale bool `gorm:"-"` // see Store.stale; false if Uptime is not loaded

	Uptime map[Range]Share `gorm:"-"` // by the ranges in Windows; nil if not loaded
	AsOf   models.Time     `gorm:"-"` // the end of the ranges of Uptime
}

// Schedule is when a target is checked, a row of target_schedule. Claim, Get and lists set it.
type Schedule struct {
	DueAt       models.Time `gorm:"-"` // when the next check is due; zero while paused
	NextCheckAt models.Time `gorm:"-"` // when it can be claimed: DueAt, or later if it was postponed; zero while paused
	// PostponedUntil is the end of its last Retry-After, possibly in the past; zero: none.
	PostponedUntil models.Time `gorm:"-"`
	ClaimedBy      lease.ID    `gorm:"-"` // the instance that is checking it, or will when it is its turn; "" = none
	// StartedAt is the start of the check in progress; zero: there is none, or it has taken less than about a second.
	StartedAt   models.Time `gorm:"-"`
	RequestedAt models.Time `gorm:"-"` // when a check was requested that is not done yet; zero: none
}

// Status returns Paused or the state.
func (t Target) Status() Status {
	if t.Paused {
		return Paused
	}
	return t.State
}

// Private reports whether only the owner and admins see the target.
func (t Target) Private() bool { return t.PrivateTo != "" }

// DisplayTitle returns the name of the target. Without one, it is the URL without scheme and query, because a host often has
// several targets.
func (t Target) DisplayTitle() string { return titleOf(t.Name, t.CanonicalURL) }

func titleOf(name, canonicalURL string) string {
	_, address, _ := strings.Cut(canonicalURL, "://")
	address, _, _ = strings.Cut(address, "?")
	return cmp.Or(name, address)
}

// HostPort returns the host of the target, with its port unless it is the default of the scheme.
func (t Target) HostPort() string { return models.HostPort(t.CanonicalURL) }

// New is the settings of a new target.
type New struct {
	URL             string
	Name            string // "" = none
	IntervalSeconds int    // 0 = CHECK_INTERVAL
	Expect          Expect
	Private         bool   // only its owner and admins see it
	IdempotencyKey  string // "" = none
}

// Edit is a change of settings. Nil fields do not change.
type Edit struct {
	Name            *string // "" = none
	IntervalSeconds *int    // 0 = CHECK_INTERVAL
	Paused          *bool
	Private         *bool
	Expect          func(Expect) Expect // returns the new value from the old one; may be called more than once
}

// Filter selects targets for a list. The zero value selects all.
type Filter struct {
	Host   string // whole, with or without port; "" = any
	Status Status // "" = any
	Text   string // part of the name or URL; "" = any
	// Certificate selects by the certificate at the last check and excludes paused
	// targets; "" = all targets.
	Certificate Certificate
}

// Certificate is a state of a TLS certificate.
type Certificate string

// Certificates that need attention.
const (
	CertificateExpired  Certificate = "expired"
	CertificateExpiring Certificate = "expiring" // within TLSSoon, and not yet expired
)

// TLSSoon is how long before its expiry a certificate counts as expiring.
const TLSSoon = 14 * models.Day

// ParseCertificate parses the parameter "certificate"; "" means any.
func ParseCertificate(s string) (Certificate, error) {
	switch c := Certificate(s); c {
	case "", CertificateExpired, CertificateExpiring:
		return c, nil
	}
	return "", models.Invalid("query.certificate", "must be expired or expiring")
}

// Counts is the number of targets by status.
type Counts map[Status]int

// All returns the total.
func (c Counts) All() int {
	n := 0
	for _, k := range c {
		n += k
	}
	return n
}
