package targets

import (
	"cmp"
	"slices"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/event"
)

// The kinds of events of targets.
const (
	EventDown        event.Kind = "target.down"
	EventUp          event.Kind = "target.up"
	EventSlow        event.Kind = "target.slow"
	EventCertificate event.Kind = "target.certificate_expiring"
)

const (
	// maxFailures is the number of failures in a row that each cause an event. Alert
	// rules can require up to that many.
	maxFailures = 10
	// downReminderInterval is the time between further events of an outage, for rules
	// that were added or enabled during it.
	downReminderInterval = 5 * time.Minute
)

// Events returns the kinds of events of targets.
func Events() []event.Type {
	const subject, noun = "target", "target"
	return []event.Type{
		{
			Kind: EventDown, Severity: event.Critical, Label: "Target down", Help: "A check of a target failed.", Subject: subject, Noun: noun,
			Verb: "is down", PluralVerb: "are down", EndsAs: EventUp, Default: true,
		},
		{
			Kind: EventUp, Severity: event.Info, Label: "Target up again", Help: "A target that was down is up. The message says how long it was down.", Subject: subject, Noun: noun,
			Verb: "is up again", PluralVerb: "are up again", Default: true,
		},
		{
			Kind: EventSlow, Severity: event.Warning, Label: "Target slow", Subject: subject, Noun: noun,
			Help: "Three checks in a row took at least a second, and three times as long as usual.", Verb: "is slow", PluralVerb: "are slow", Over: "is fast again",
		},
		{
			Kind: EventCertificate, Severity: event.Warning, Label: "Certificate expiring", Subject: subject, Noun: noun,
			Help: "The TLS certificate of a target expires within 30 days. You are alerted again 7 days and 1 day before.",
			Verb: "has an expiring certificate", PluralVerb: "have an expiring certificate", Over: "has a new certificate", Default: true,
		},
	}
}

func (t Target) event(k event.Kind, p event.Phase, severity event.Severity, at models.Time) event.Event {
	return event.Event{
		Kind: k, Phase: p, Severity: severity, SubjectKind: "target", SubjectID: t.ID, Name: t.DisplayTitle(), URL: t.CanonicalURL, Host: cmp.Or(models.HostPort(t.CanonicalURL), t.Host), At: at,
		PrivateTo: t.PrivateTo,
	}
}

// events returns the events of a check. before and after are the target before and after it.
func events(before, after Target, r Result) (all []event.Event) {
	add := func(k event.Kind, p event.Phase, severity event.Severity) *event.Event {
		all = append(all, after.event(k, p, severity, r.CheckedAt))
		return &all[len(all)-1]
	}
	switch {
	case r.Outcome == DownOutcome && (after.Failures <= maxFailures || after.downReminderDue(before.LastCheckedAt)):
		e := add(EventDown, event.Started, event.Critical)
		e.SinceAt, e.Failures, e.Detail = after.StateSince, after.Failures, r.Error
	case before.State == Down && after.State == Up:
		add(EventDown, event.Ended, event.Critical)
	}
	fresh := before.State == Pending // earlier events were closed
	switch was, is := before.RecentChecks.slow() && !fresh, after.RecentChecks.slow(); {
	case is && !was:
		add(EventSlow, event.Started, event.Warning).Detail = "response time " + (time.Duration(r.LatencyMS) * time.Millisecond).String()
	case was && !is:
		add(EventSlow, event.Ended, event.Warning)
	}
	was, is := warning(before.TLSExpiresAt, before.LastCheckedAt), warning(after.TLSExpiresAt, r.CheckedAt)
	if is < was { // the certificate was renewed, possibly for a few days only
		add(EventCertificate, event.Ended, event.Warning)
	}
	// A renewal within a level is no event. Otherwise each renewal of a short-lived certificate would cause one.
	if is > 0 && (is != was || fresh) {
		e := add(EventCertificate, event.Started, is.severity())
		expires := after.TLSExpiresAt.Format(time.DateOnly)
		e.Detail = "valid until " + expires
		e.Host += " " + expires // targets with the same certificate share an alert
	}
	return all
}

// downReminderDue reports whether another downReminderInterval of the outage began
// between the previous check, at last, and the last check.
func (t Target) downReminderDue(last models.Time) bool {
	return t.LastCheckedAt.Sub(t.StateSince.Time)/downReminderInterval > last.Sub(t.StateSince.Time)/downReminderInterval
}

// certificateWarning is the level of a warning before a certificate expires: 0 = none.
type certificateWarning int

// certificateWarningDays are the days before expiry at which the level rises.
var certificateWarningDays = []int{30, 7, 1}

func warning(expires, at models.Time) (level certificateWarning) {
	if expires.IsZero() || at.IsZero() {
		return 0
	}
	for _, days := range certificateWarningDays {
		if !expires.After(at.AddDate(0, 0, days)) {
			level++
		}
	}
	return level
}

func (w certificateWarning) severity() event.Severity { return event.Severity(max(w-1, 0)) }

// A target is slow if its last slowChecks checks were all slow.
const (
	slowChecks       = 3    // number of last checks
	minSlowMS        = 1000 // least response time, in milliseconds
	slowFactor       = 3    // times the lower quartile of the earlier checks
	minEarlierChecks = 10   // least number of earlier checks
)

// slow reports whether the last successful checks were slow, compared with the lower
// quartile of those before. A target that is usually slow is therefore not reported.
func (b RecentChecks) slow() bool {
	if !b.endsSlow() {
		return false
	}
	var up []int
	for _, c := range b {
		if c.Outcome == UpOutcome {
			up = append(up, c.LatencyMS)
		}
	}
	if len(up) < slowChecks+minEarlierChecks {
		return false
	}
	last, before := up[len(up)-slowChecks:], up[:len(up)-slowChecks]
	slices.Sort(before)
	return slices.Min(last) >= max(minSlowMS, slowFactor*before[len(before)/4])
}

// endsSlow reports whether the last successful checks took at least minSlowMS.
func (b RecentChecks) endsSlow() bool {
	n := 0
	for i := len(b) - 1; i >= 0 && n < slowChecks; i-- {
		if b[i].Outcome != UpOutcome {
			continue
		}
		if b[i].LatencyMS < minSlowMS {
			return false
		}
		n++
	}
	return n == slowChecks
}

// closeEvents closes all alerts of a target that is paused or deleted.
func closeEvents(tx *gorm.DB, t Target, now models.Time) error {
	var all []event.Event
	for _, k := range []event.Kind{EventDown, EventSlow, EventCertificate} {
		all = append(all, t.event(k, event.Closed, event.Info, now))
	}
	return event.Add(tx, all...)
}
