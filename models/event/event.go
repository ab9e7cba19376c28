// Package event keeps what happens in all systems until alerts have taken note of it. A
// system stores its events in the transaction in which they happen, so a crash loses
// none, and declares which kinds it has. It knows nothing of alerts.
package event

import (
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Kind names a kind of events: "target.down".
type Kind string

// Severity is how urgent an event is.
type Severity int

// The severities, as they are stored.
const (
	Info     Severity = 0
	Warning  Severity = 1
	Critical Severity = 2
)

// String is the name of the severity.
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

// Phase says what an event tells of a condition.
type Phase string

// The phases.
const (
	Once   Phase = "once"   // it has no duration: a page changed
	Began  Phase = "began"  // a condition began, or goes on: a target is down
	Ended  Phase = "ended"  // it has ended: the target is up
	Closed Phase = "closed" // it is no longer looked at: the target is paused or deleted
)

// Type describes a kind of events. A system declares those that it stores.
type Type struct {
	Kind     Kind
	Severity Severity // usually; an event can be more or less severe
	Label    string   // "Target down"
	Help     string   // what it means, one sentence
	Subject  string   // the kind of its subjects: "target"
	// Noun counts its subjects: "target". Did says what they did, after a name: "is down". DidMany
	// is the same of several: "are down". Over is what they do when it has ended, "" = that is not told.
	Noun, Did, DidMany, Over string
	// EndsAs is the kind of the alert that tells of the end; "" = the alert itself does.
	EndsAs Kind
	// Once reports whether its events have no duration: one message tells of all that happened until it is sent.
	Once bool
	// Default reports whether the rule of "Alert me" has it.
	Default bool
}

// Event is something that happened.
type Event struct {
	Seq         int64 `gorm:"primaryKey"`
	Kind        Kind
	Phase       Phase
	Severity    Severity
	SubjectKind string // "target"
	SubjectID   string
	Name        string      // of the subject, as people know it
	URL         string      // canonical; "" = the subject has none
	Host        string      // events of a kind and a host become one alert
	SinceAt     models.Time // when the condition began
	At          models.Time // when it was found
	Failures    int         // in a row; 0 = they are not counted
	Detail      string      // why, in a few words: "unexpected status 500"
	PrivateTo   string      // the owner of a private subject, who alone is told; "" = it is shared
}

// The longest texts of an event, in characters.
const (
	maxName   = 200
	maxDetail = 500
)

// Add stores events in a transaction, by one statement.
func Add(tx *gorm.DB, events ...Event) error {
	for i := range events {
		e := &events[i]
		e.Name, e.Detail = models.Truncate(models.CleanLine(e.Name), maxName), models.Truncate(models.CleanLine(e.Detail), maxDetail)
		if e.SinceAt.IsZero() {
			e.SinceAt = e.At
		}
	}
	if err := models.Insert(tx, events); err != nil {
		return fmt.Errorf("storing events: %w", err)
	}
	return nil
}

// Oldest returns up to n events, the oldest first.
func Oldest(tx *gorm.DB, n int) (events []Event, err error) {
	if err := tx.Order("seq").Limit(n).Find(&events).Error; err != nil {
		return nil, fmt.Errorf("loading events: %w", err)
	}
	return events, nil
}

// Waiting reports whether there are events.
func Waiting(tx *gorm.DB) (found bool, err error) {
	if err := tx.Raw("SELECT EXISTS (SELECT 1 FROM events)").Scan(&found).Error; err != nil {
		return false, fmt.Errorf("looking for events: %w", err)
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
		return fmt.Errorf("deleting events: %w", err)
	}
	return nil
}
