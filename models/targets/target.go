// Package targets holds watched URLs, their checks and their history: types,
// rules and SQL. Pages, API and the checker all call
// it, so each rule is here once.
package targets

import (
	"linkwatch/models"
	"linkwatch/models/lease"
)

// Status says whether a target is up.
type Status string

// The statuses of a target.
const (
	Pending Status = "pending" // no check has counted yet, or none since it was resumed
	Up      Status = "up"
	Down    Status = "down"
	Paused  Status = "paused"
)

// Statuses are all of them, the ones that need attention first.
var Statuses = []Status{Down, Pending, Up, Paused}

// ParseStatus reads a status; "" means any.
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
	Seq int64 `gorm:"primaryKey"` // the store's own key

	// What the owner set.
	ID              string
	URL             string // as it was given
	CanonicalURL    string // unique among the targets of a PrivateTo that are not deleted
	Host            string // lower-case, without port
	Name            string // "" = none was given
	SearchText      string // name and address as they are searched
	IntervalSeconds int    // 0 = CHECK_INTERVAL
	Expect          Expect `gorm:"embedded;embeddedPrefix:expect_"`
	Paused          bool
	CreatedAt       models.Time
	UpdatedAt       models.Time // of what the owner set; checks leave it
	DeletedAt       models.Time // zero: it is there

	Owner     string // who added it
	PrivateTo string // see models.PrivateTo

	// When it is checked next.
	DueAt       models.Time // since when a check is due; zero while paused
	NextCheckAt models.Time // when it is looked at: DueAt, or later if it was put off; zero while paused
	// PostponedUntil is the end of the pause that its host asked for, which may be
	// over; zero: it did not ask.
	PostponedUntil models.Time
	ClaimedBy      lease.ID // the instance that checks it now; "" = none

	// What the checks found.
	State          Status      // Pending, Up or Down; see Status
	StateSince     models.Time // when the first check found it so
	LastCheckedAt  models.Time // zero: never
	LastStatusCode int         // 0: no answer
	LastLatencyMS  int
	LastError      string // short and stable: "unexpected status 404"; "" = none
	Failures       int    // in a row
	TLSExpiresAt   models.Time
	KnownUntil     models.Time  // until when the last result determines the state; zero: the state is unknown
	RecentChecks   RecentChecks // the last checks, the newest last

	Hour Rollup `gorm:"embedded;embeddedPrefix:hour_"` // of the hour under way
	Day  Rollup `gorm:"embedded;embeddedPrefix:day_"`  // of the day under way, as far as its hours have ended

	Uptime map[Range]Share `gorm:"-"` // over Windows; nil where it was not asked for
	AsOf   models.Time     `gorm:"-"` // the end of the ranges of Uptime
}

// Status is how the target does.
func (t Target) Status() Status {
	if t.Paused {
		return Paused
	}
	return t.State
}

// Private says whether only the owner and admins see the target.
func (t Target) Private() bool { return t.PrivateTo != "" }

// DisplayTitle is the target's name, or its host if it has none.
func (t Target) DisplayTitle() string {
	if t.Name != "" {
		return t.Name
	}
	return t.Host
}

// New is a target to be watched.
type New struct {
	URL             string
	Name            string // "" = none
	IntervalSeconds int    // 0 = CHECK_INTERVAL
	Expect          Expect
	Private         bool   // only its owner, who adds it, and admins see it
	IdempotencyKey  string // "" = none
}

// Edit changes what the owner set. A nil member stays as it is.
type Edit struct {
	Name            *string // "" = none
	IntervalSeconds *int    // 0 = CHECK_INTERVAL
	Paused          *bool
	Private         *bool
	Expect          func(Expect) Expect // what is expected, from what was; it may be called more than once
}

// Filter selects targets for a list. Its zero value is all of them.
type Filter struct {
	Host   string // whole, with or without port; "" = any
	Status Status // "" = any
	Text   string // a part of the name or the address; "" = any
	// Certificate chooses targets that are not paused by the certificate that
	// they showed last; "" = any, or none.
	Certificate Certificate
}

// Certificate says how a target's TLS certificate stands.
type Certificate string

// Certificates that need attention.
const (
	CertificateExpired  Certificate = "expired"
	CertificateExpiring Certificate = "expiring" // within TLSSoon, and not yet expired
)

// TLSSoon is how long before its end a certificate counts as expiring.
const TLSSoon = 14 * models.Day

// ParseCertificate reads the parameter "certificate"; "" means any.
func ParseCertificate(s string) (Certificate, error) {
	switch c := Certificate(s); c {
	case "", CertificateExpired, CertificateExpiring:
		return c, nil
	}
	return "", models.Invalid("query.certificate", "must be expired or expiring")
}

// Counts are how many targets there are, by status.
type Counts map[Status]int

// All is how many there are.
func (c Counts) All() int {
	n := 0
	for _, k := range c {
		n += k
	}
	return n
}
