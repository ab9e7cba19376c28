// Package event stores the events of all systems until the alert worker processes them. A system declares its event types and stores
// events in the transaction that causes them, so a crash loses none. It does not depend on alerts.
package event

import (
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Kind is the kind of an event: "target.down".
type Kind string

// Severity is how urgent an event is.
type Severity int

// The severities. Their values are stored.
const (
	Info     Severity = 0
	Warning  Severity = 1
	Critical Severity = 2
)

// String returns info, warning or critical.
func (s Severity) String() string {
	switch s {
	case Warning:
		return "warning"
	case Critical:
		return "critical"
	default:
		return "info"
	}
}

// Phase is the phase of the condition that an event reports.
type Phase string

// The phases.
const (
	Once    Phase = "once"   // no duration: a page changed
	Started Phase = "began"  // the condition started or continues: a target is down
	Ended   Phase = "ended"  // the condition ended: the target is up
	Closed  Phase = "closed" // no longer checked: the target was paused or deleted
)

// Type describes an event kind. Each system declares its types.
type Type struct {
	Kind     Kind
	Severity Severity // default; an event can be more or less severe
	Label    string   // "Target down"
	Help     string   // meaning, in one or two sentences
	Subject  string   // kind of its subjects: "target"
	// Texts of messages. Noun is the singular noun for a subject: "target". Verb is the predicate for one subject ("is down"), PluralVerb
	// for several ("are down"), and Over after the end ("is fast again"). If Over is empty, the end is not sent.
	Noun, Verb, PluralVerb, Over string
	// EndsAs is the event kind of the separate alert for the end: "target.up". If it is empty, the end is sent by the same alert.
	EndsAs Kind
	// Once reports whether its events have no duration. One message then includes all events until it is sent.
	Once bool
	// Repeats reports whether a further event of a subject is sent while its condition lasts: a crawl failed again.
	Repeats bool
	// Default reports whether the rule of “Alert me” includes it.
	Default bool
}

// Event is an event of one subject.
type Event struct {
	Seq         int64 `gorm:"primaryKey"`
	Kind        Kind
	Phase       Phase
	Severity    Severity
	SubjectKind string // "target"
	SubjectID   string
	Name        string      // display name of the subject
	URL         string      // canonical URL; "" if the subject has none
	Host        string      // with any non-default port; events of a kind on a host are grouped into one alert
	SinceAt     models.Time // when the condition started
	At          models.Time // when it was detected
	Failures    int         // consecutive failures; 0 if not counted
	Detail      string      // reason: "unexpected status 500"
	PrivateTo   string      // owner of a private subject; "" if shared
}

// Maximum lengths of texts, in characters.
const (
	maxName   = 200
	maxDetail = 500
)

// Add stores events in a transaction with one statement. It truncates Name and Detail.
func Add(tx *gorm.DB, events ...Event) error {
	for i := range events {
		e := &events[i]
		e.Name, e.Detail = models.Truncate(models.CleanLine(e.Name), maxName), models.Truncate(models.CleanLine(e.Detail), maxDetail)
		if e.SinceAt.IsZero() {
			e.SinceAt = e.At
		}
	}
	if err := models.Insert(tx, events); err != nil {
		return fmt.Errorf("store events: %w", err)
	}
	return nil
}

// Oldest returns up to n events, oldest first.
func Oldest(tx *gorm.DB, n int) (events []Event, err error) {
	if err := tx.Order("seq").Limit(n).Find(&events).Error; err != nil {
		return nil, fmt.Errorf("load events: %w", err)
	}
	return events, nil
}

// Pending reports whether any event is stored.
func Pending(tx *gorm.DB) (found bool, err error) {
	if err := tx.Raw("SELECT EXISTS (SELECT 1 FROM events)").Scan(&found).Error; err != nil {
		return false, fmt.Errorf("check for events: %w", err)
	}
	return found, nil
}

// Remove deletes events.
func Remove(tx *gorm.DB, events []Event) error {
	rows := models.NewRows("seq bigint")
	for _, e := range events {
		rows.Add(e.Seq)
	}
	if err := rows.Exec(tx, "DELETE FROM events WHERE seq IN (SELECT seq FROM {rows} AS r)").Error; err != nil {
		return fmt.Errorf("delete events: %w", err)
	}
	return nil
}
