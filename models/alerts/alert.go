package alerts

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/event"
)

// manyHosts is the prefix of the group key of an alert with subjects on many hosts. Other keys start with the host, with its port unless it
// is the default port.
const manyHosts = "*"

// Alert is one condition of one or more subjects on a host and port. Its rules send only the subjects that they match. If a condition starts on many hosts within a
// minute, the remaining subjects are grouped into one alert.
type Alert struct {
	Seq              int64 `gorm:"primaryKey"`
	ID               string
	EndsID           string // ID of the alert that this one resolves; "" if none
	PartOfID         string // ID of the open alert of which some subjects have recovered; "" if none
	RecoveryOf       int64  // Seq of the alert whose subjects have recovered; 0 if the alert is no recovery
	Event            event.Kind
	Severity         event.Severity
	GroupKey         string // the host of its subjects (or many), then what separates them from other alerts
	SubjectKind      string // the Subject fields describe the first subject
	SubjectID        string
	SubjectName      string
	SubjectURL       string
	Detail           string // reason, of the first subject
	SubjectCount     int    // number of subjects
	OpenSubjectCount int    // number of subjects whose condition has not ended
	Flapping         bool
	Changes          int // number of times that the condition started within FlapWindow
	CreatedAt        models.Time
	StartedAt        models.Time // when the condition started
	FiredAt          models.Time // when it was first due to be sent; zero if it is still held, and not shown
	ResolveAt        models.Time // when a flapping alert is resolved unless the condition starts again; zero if not scheduled
	ResolvedAt       models.Time
	AcknowledgedAt   models.Time
	SilencedUntil    models.Time `gorm:"column:silenced_until_at"`
	PrivateTo        string      // owner of its subjects if they were private when it started; "" if shared
}

// Open reports whether the alert is not resolved.
func (a Alert) Open() bool { return a.ResolvedAt.IsZero() }

// Host returns the host of all subjects with any non-default port, or "" if there are several hosts or none.
func (a Alert) Host() string {
	host, _, _ := strings.Cut(a.GroupKey, " ")
	if strings.HasPrefix(host, manyHosts) {
		return ""
	}
	return host
}

// Duration returns how long the condition lasted, or has lasted until now.
func (a Alert) Duration(now time.Time) time.Duration {
	if a.Open() {
		return now.Sub(a.StartedAt.Time)
	}
	return a.ResolvedAt.Sub(a.StartedAt.Time)
}

// Silenced reports whether the alert is silenced at now.
func (a Alert) Silenced(now models.Time) bool { return a.Open() && a.SilencedUntil.After(now.Time) }

// AlertSubject is a subject of an alert.
type AlertSubject struct {
	AlertSeq    int64 `gorm:"primaryKey"`
	SubjectID   string
	Event       event.Kind
	SubjectKind string
	Name        string
	URL         string
	Detail      string
	SinceAt     models.Time
	EndedAt     models.Time // zero if the condition has not ended
	Changes     int         // consecutive starts, each within a third of FlapWindow of the previous one
	// AcknowledgedAt is when the subject was acknowledged, also if its condition ended and started again since. Zero if it was not.
	AcknowledgedAt models.Time

	removed bool // no longer checked, so it leaves the alert
	isNew   bool // in a message, not sent before
}

// TableName implements GORM's Tabler.
func (AlertSubject) TableName() string { return "alert_subjects" }

// State selects alerts for a list.
type State string

// The states.
const (
	AnyState       State = ""
	Firing         State = "firing"         // not resolved
	Unacknowledged State = "unacknowledged" // neither resolved nor acknowledged
	Resolved       State = "resolved"
)

// ParseState reads a state; "" means any.
func ParseState(text string) (State, error) {
	switch st := State(text); st {
	case AnyState, Firing, Unacknowledged, Resolved:
		return st, nil
	}
	return "", models.Invalid("query.state", "must be firing, unacknowledged or resolved")
}

// condition returns the SQL condition of a state. Every state except Resolved has an index.
func (st State) condition() string {
	switch st {
	case Firing:
		return "fired_at IS NOT NULL AND resolved_at IS NULL"
	case Unacknowledged:
		return "fired_at IS NOT NULL AND resolved_at IS NULL AND acknowledged_at IS NULL"
	case Resolved:
		return "fired_at IS NOT NULL AND resolved_at IS NOT NULL"
	default:
		return "fired_at IS NOT NULL"
	}
}

// ListOrders are the orders of Alerts.
var ListOrders = models.Orders[Alert]{
	Field: "created_at", Desc: true, Time: "created_at", ID: "id", Kind: models.KindAlert,
	At: func(a Alert) models.Cursor { return models.Cursor{CreatedAt: a.CreatedAt, ID: a.ID} },
}

// Filter selects alerts for a list. Zero values select all.
type Filter struct {
	State    State
	Event    event.Kind
	Severity *event.Severity
	Subject  string      // ID of one of its subjects
	Since    models.Time // alerts created at this time or later
}

// addTo adds the conditions of the filter. The columns of Event and Severity lead an index of the alerts with fired_at > 0. It has resolved
// alerts too, so lists of firing alerts use the indexes of these: IS TRUE keeps them from an index by event.
func (f Filter) addTo(q *models.ListQuery) {
	q.And(f.State.condition())
	firing := f.State == Firing || f.State == Unacknowledged
	if !firing && (f.Event != "" || f.Severity != nil) {
		q.And("fired_at > 0")
	}
	switch {
	case f.Event != "" && firing:
		q.And("(event = ?) IS TRUE", f.Event)
	case f.Event != "":
		q.And("event = ?", f.Event)
	}
	if f.Severity != nil {
		q.And("severity = ?", int(*f.Severity))
	}
	if f.Subject != "" {
		q.And("seq IN (SELECT alert_seq FROM alert_subjects WHERE subject_id = ?)", f.Subject)
	}
	if !f.Since.IsZero() {
		q.And("created_at >= ?", f.Since)
	}
}

// Alerts returns a page of alerts in a state, newest first. See Filtered.
func (s *Store) Alerts(ctx context.Context, st State, after models.Cursor, limit int) (models.Slice[Alert], error) {
	return s.Filtered(ctx, Filter{State: st}, after, limit)
}

// Filtered returns a page of alerts, newest first by default. It leaves out alerts that are not due to be sent yet. limit comes from
// models.NewLimit. The error is CodeInvalid ("query.event") for an unknown event.
func (s *Store) Filtered(ctx context.Context, f Filter, after models.Cursor, limit int) (page models.Slice[Alert], err error) {
	if _, ok := s.types[f.Event]; f.Event != "" && !ok {
		return page, models.Invalid("query.event", "must be the name of an event. GET /v1/alert-events lists them")
	}
	if err := models.CheckFilter("query.subject", f.Subject); err != nil {
		return page, err
	}
	tx := s.db.Read(ctx)
	visible, args := models.Visible(tx, "alerts")
	q := models.ListQuery{Table: "alerts", Where: visible, Args: args}
	f.addTo(&q)
	return ListOrders.List(tx, q, after, limit, func(p models.ListPart) (found []Alert, err error) {
		if err = p.Of(tx).Find(&found).Error; err != nil {
			err = fmt.Errorf("load alerts: %w", err)
		}
		return found, err
	})
}

// Alert returns an alert by ID. The error is CodeNotFound if it does not exist or is not due to be sent yet.
func (s *Store) Alert(ctx context.Context, id string) (Alert, error) {
	return alert(s.db.Read(ctx), id)
}

func alert(tx *gorm.DB, id string) (a Alert, err error) {
	if models.CheckID(models.KindAlert, id) != nil {
		return a, models.NotFound("alert")
	}
	visible, args := models.Visible(tx, "alerts")
	if err := tx.Where("id = ? AND fired_at IS NOT NULL", id).Where(visible, args...).Limit(1).Find(&a).Error; err != nil {
		return a, fmt.Errorf("load alert: %w", err)
	}
	if a.Seq == 0 {
		return a, models.NotFound("alert")
	}
	return a, nil
}

// SubjectsOf returns up to n subjects of each alert by Alert.Seq. Subjects whose condition has not ended come first.
func (s *Store) SubjectsOf(ctx context.Context, as []Alert, n int) (map[int64][]AlertSubject, error) {
	return loadSubjects(s.db.Read(ctx), as, n)
}

func loadSubjects(tx *gorm.DB, as []Alert, n int) (map[int64][]AlertSubject, error) {
	rows := models.NewRows("alert_seq bigint")
	for _, a := range as {
		rows.Add(a.Seq)
	}
	var found []AlertSubject
	err := rows.Raw(tx, `SELECT * FROM (SELECT m.*, row_number() OVER (PARTITION BY m.alert_seq ORDER BY m.ended_at IS NOT NULL, m.since_at, m.subject_id) AS place
		FROM {rows} AS r JOIN alert_subjects AS m ON m.alert_seq = r.alert_seq) AS numbered WHERE place <= ? ORDER BY alert_seq, place`, n).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("load subjects of alerts: %w", err)
	}
	byAlert := map[int64][]AlertSubject{}
	for _, m := range found {
		byAlert[m.AlertSeq] = append(byAlert[m.AlertSeq], m)
	}
	return byAlert, nil
}
