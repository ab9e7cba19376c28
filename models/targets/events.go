package targets

import (
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
	// maxFailures is up to how many failures in a row each is an event of its own, so that rules can wait for that many.
	maxFailures = 10
	// downReminderInterval is the time between events of a longer outage. They are for rules that were added or enabled during it.
	downReminderInterval = 5 * time.Minute
)

// Events are the kinds of events of targets.
func Events() []event.Type {
	const subject, noun = "target", "target"
	return []event.Type{
		{
			Kind: EventDown, Severity: event.Critical, Label: "Target down", Help: "A check of a target failed.", Subject: subject, Noun: noun,
			Did: "is down", DidMany: "are down", EndsAs: EventUp, Default: true,
		},
		{
			Kind: EventUp, Severity: event.Info, Label: "Target up again", Help: "A target that was down is up. The message says how long it was down.", Subject: subject, Noun: noun,
			Did: "is up again", DidMany: "are up again", Default: true,
		},
		{
			Kind: EventSlow, Severity: event.Warning, Label: "Target slow", Subject: subject, Noun: noun,
			Help: "Three checks in a row took at least a second, and three times as long as usual.", Did: "is slow", DidMany: "are slow", Over: "is fast again",
		},
		{
			Kind: EventCertificate, Severity: event.Warning, Label: "Certificate expiring", Subject: subject, Noun: noun,
			Help: "The TLS certificate of a target expires within 30 days. You are alerted again 7 days and 1 day before.",
			Did:  "has an expiring certificate", DidMany: "have an expiring certificate", Over: "has a new certificate", Default: true,
		},
	}
}

// event is an event of the target.
func (t Target) event(k event.Kind, p event.Phase, severity event.Severity, at models.Time) event.Event {
	return event.Event{
		Kind: k, Phase: p, Severity: severity, SubjectKind: "target", SubjectID: t.ID, Name: t.DisplayTitle(), URL: t.CanonicalURL, Host: t.Host, At: at,
		PrivateTo: t.PrivateTo,
	}
}

// events are what a check tells: before and after are the target as it was and is.
func events(before, after Target, r Result) (all []event.Event) {
	add := func(k event.Kind, p event.Phase, severity event.Severity) *event.Event {
		all = append(all, after.event(k, p, severity, r.CheckedAt))
		return &all[len(all)-1]
	}
	switch {
	case r.Outcome == DownOutcome && (after.Failures <= maxFailures || after.downReminderDue(before.LastCheckedAt)):
		e := add(EventDown, event.Began, event.Critical)
		e.SinceAt, e.Failures, e.Detail = after.StateSince, after.Failures, r.Error
	case before.State == Down && after.State == Up:
		add(EventDown, event.Ended, event.Critical)
	}
	fresh := before.State == Pending // nothing that was told of it counts any more
	switch was, is := before.RecentChecks.slow() && !fresh, after.RecentChecks.slow(); {
	case is && !was:
		add(EventSlow, event.Began, event.Warning).Detail = "response time " + (time.Duration(r.LatencyMS) * time.Millisecond).String()
	case was && !is:
		add(EventSlow, event.Ended, event.Warning)
	}
	was, is := warning(before.TLSExpiresAt, before.LastCheckedAt), warning(after.TLSExpiresAt, r.CheckedAt)
	if is < was { // the certificate was renewed, if only for a few days
		add(EventCertificate, event.Ended, event.Warning)
	}
	// A renewal within a level is no event: certificates that never last 30 days would cause one at each renewal.
	if is > 0 && (is != was || fresh) {
		e := add(EventCertificate, event.Began, is.severity())
		expires := after.TLSExpiresAt.Format(time.DateOnly)
		e.Detail = "expires on " + expires
		e.Host += " " + expires // targets with the same certificate are one alert
	}
	return all
}

// downReminderDue reports whether the target's last check is the first of its outage within another downEvery. last is when the
// check before it began.
func (t Target) downReminderDue(last models.Time) bool {
	return t.LastCheckedAt.Sub(t.StateSince.Time)/downReminderInterval > last.Sub(t.StateSince.Time)/downReminderInterval
}

// certificateWarning is how soon a certificate expires: 0 = not soon.
type certificateWarning int

// certificateWarningDays are before how many days an expiry is told.
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

// What counts as slow.
const (
	slowChecks       = 3    // in a row
	minSlowMS        = 1000 // milliseconds
	slowFactor       = 3    // times the lower quartile of the checks before them
	minEarlierChecks = 10   // checks that there must be before them
)

// slow reports whether the last checks that were up were slow, compared with the faster ones of those before. When
// most of them are slow, that is how the target usually is.
func (b RecentChecks) slow() bool {
	var up []int
	for _, beat := range b {
		if beat.Outcome == UpOutcome {
			up = append(up, beat.LatencyMS)
		}
	}
	if len(up) < slowChecks+minEarlierChecks {
		return false
	}
	last, before := up[len(up)-slowChecks:], up[:len(up)-slowChecks]
	slices.Sort(before)
	return slices.Min(last) >= max(minSlowMS, slowFactor*before[len(before)/4])
}

// closeEvents tells that nothing more is known of a target: it is paused or deleted.
func closeEvents(tx *gorm.DB, t Target, now models.Time) error {
	var all []event.Event
	for _, k := range []event.Kind{EventDown, EventSlow, EventCertificate} {
		all = append(all, t.event(k, event.Closed, event.Info, now))
	}
	return event.Add(tx, all...)
}
