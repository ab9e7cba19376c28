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

// many begins the group key of an alert with subjects of many hosts. Other keys begin with the host.
const many = "*"

// Alert is one condition of one or more subjects of a host, to which the same rules apply. If a
// condition begins for many hosts within a minute, one alert has all further subjects.
type Alert struct {
	Seq            int64 `gorm:"primaryKey"`
	ID             string
	EndsID         string // of the alert that this one resolves; "" = it resolves none
	Event          event.Kind
	Severity       event.Severity
	GroupKey       string // the host of its subjects, or many, and the rules that apply to them
	SubjectKind    string // of the first subject
	SubjectID      string
	SubjectName    string
	SubjectURL     string
	Detail         string // why, of the first subject
	Members        int    // subjects
	OpenMembers    int    // subjects of which it has not ended
	Flapping       bool
	Changes        int // times that it began within FlapTime
	CreatedAt      models.Time
	StartedAt      models.Time // when the condition began
	FiredAt        models.Time // when it was first due to be sent; zero = it waits, and is not shown
	ResolveAt      models.Time // when a flapping alert counts as resolved; zero = it goes on
	ResolvedAt     models.Time
	AcknowledgedAt models.Time
	SilencedUntil  models.Time `gorm:"column:silenced_until_at"`
	PrivateTo      string      // the owner of its subjects, as they were when it began; "" = they are shared
}

// Open reports whether the condition goes on.
func (a Alert) Open() bool { return a.ResolvedAt.IsZero() }

// Host is the host of all subjects; "" = there are several, or it has none.
func (a Alert) Host() string {
	host, _, _ := strings.Cut(a.GroupKey, " ")
	if strings.HasPrefix(host, many) {
		return ""
	}
	return host
}

// Took is how long the condition lasted, until now if it goes on.
func (a Alert) Took(now time.Time) time.Duration {
	if a.Open() {
		return now.Sub(a.StartedAt.Time)
	}
	return a.ResolvedAt.Sub(a.StartedAt.Time)
}

// Silenced reports whether the alert is silenced.
func (a Alert) Silenced(now models.Time) bool { return a.Open() && a.SilencedUntil.After(now.Time) }

// Member is a subject of an alert.
type Member struct {
	AlertSeq    int64 `gorm:"primaryKey"`
	SubjectID   string
	Event       event.Kind
	SubjectKind string
	Name        string
	URL         string
	Detail      string
	SinceAt     models.Time
	EndedAt     models.Time // zero: it goes on
	Changes     int         // times in a row that it began, each within a third of FlapTime of the one before

	gone bool // it is no longer checked: it leaves the alert
}

// TableName implements GORM's Tabler.
func (Member) TableName() string { return "alert_members" }

// State selects alerts for a list.
type State string

// The states.
const (
	AnyState   State = ""
	Firing     State = "firing"         // not resolved
	Unattended State = "unacknowledged" // neither resolved nor acknowledged
	Resolved   State = "resolved"
)

// ParseState reads a state; "" means any.
func ParseState(text string) (State, error) {
	switch st := State(text); st {
	case AnyState, Firing, Unattended, Resolved:
		return st, nil
	}
	return "", models.Invalid("query.state", "must be firing, unacknowledged or resolved")
}

// where is the condition of the alerts in a state. Each but Resolved has an index.
func (st State) where() string {
	switch st {
	case Firing:
		return "fired_at IS NOT NULL AND resolved_at IS NULL"
	case Unattended:
		return "fired_at IS NOT NULL AND resolved_at IS NULL AND acknowledged_at IS NULL"
	case Resolved:
		return "fired_at IS NOT NULL AND resolved_at IS NOT NULL"
	default:
		return "fired_at IS NOT NULL"
	}
}

// Alerts is a page of alerts, newest first. Those that are not due to be sent yet are not among
// them. limit is as models.NewLimit made it.
func (s *Store) Alerts(ctx context.Context, st State, after models.Cursor, limit int) (models.Slice[Alert], error) {
	var page models.Slice[Alert]
	q := s.db.Read(ctx)
	seen, args := models.Visible(q, "alerts")
	q = q.Where(st.where()).Where(seen, args...)
	if after != (models.Cursor{}) {
		if models.CheckID(models.KindAlert, after.ID) != nil {
			return page, models.ErrPageToken
		}
		q = q.Where("(created_at, id) < (?, ?)", after.CreatedAt, after.ID)
	}
	if err := q.Order("created_at DESC, id DESC").Limit(limit + 1).Find(&page.Items).Error; err != nil {
		return page, fmt.Errorf("loading alerts: %w", err)
	}
	return models.NewSlice(page.Items, limit, func(a Alert) models.Cursor { return models.Cursor{CreatedAt: a.CreatedAt, ID: a.ID} }), nil
}

// Alert is the alert of an id; CodeNotFound if there is none, or if it is not due to be sent yet.
func (s *Store) Alert(ctx context.Context, id string) (Alert, error) {
	return alert(s.db.Read(ctx), id)
}

func alert(tx *gorm.DB, id string) (a Alert, err error) {
	if models.CheckID(models.KindAlert, id) != nil {
		return a, models.NotFound("alert")
	}
	seen, args := models.Visible(tx, "alerts")
	if err := tx.Where("id = ? AND fired_at IS NOT NULL", id).Where(seen, args...).Limit(1).Find(&a).Error; err != nil {
		return a, fmt.Errorf("loading an alert: %w", err)
	}
	if a.Seq == 0 {
		return a, models.NotFound("alert")
	}
	return a, nil
}

// MembersOf are up to n subjects of each of some alerts, those of which it goes on first, by
// Alert.Seq.
func (s *Store) MembersOf(ctx context.Context, as []Alert, n int) (map[int64][]Member, error) {
	return membersOf(s.db.Read(ctx), as, n)
}

func membersOf(tx *gorm.DB, as []Alert, n int) (map[int64][]Member, error) {
	rows := models.NewRows("alert_seq bigint")
	for _, a := range as {
		rows.Add(a.Seq)
	}
	var found []Member
	err := rows.Raw(tx, `SELECT * FROM (SELECT m.*, row_number() OVER (PARTITION BY m.alert_seq ORDER BY m.ended_at IS NOT NULL, m.since_at, m.subject_id) AS place
		FROM {rows} AS r JOIN alert_members AS m ON m.alert_seq = r.alert_seq) AS numbered WHERE place <= ? ORDER BY alert_seq, place`, n).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("loading the subjects of alerts: %w", err)
	}
	of := map[int64][]Member{}
	for _, m := range found {
		of[m.AlertSeq] = append(of[m.AlertSeq], m)
	}
	return of, nil
}
