package alerts

import (
	"context"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Repeat is the recurrence of a maintenance window.
type Repeat string

// The recurrences.
const (
	RepeatNone    Repeat = "none"
	RepeatWeekly  Repeat = "weekly"
	RepeatMonthly Repeat = "monthly" // months without the day are skipped
)

// Repeats returns all recurrences.
func Repeats() []Repeat { return []Repeat{RepeatNone, RepeatWeekly, RepeatMonthly} }

// maxWindow is the longest duration of one occurrence, so that a repeating window ends before its next occurrence starts.
var maxWindow = map[Repeat]time.Duration{RepeatNone: 366 * models.Day, RepeatWeekly: 7 * models.Day, RepeatMonthly: 28 * models.Day}

// Maintenance is a window in which no alerts are sent and outages do not count against uptime.
type Maintenance struct {
	Seq       int64 `gorm:"primaryKey"`
	ID        string
	Name      string
	Scope     Scope       `gorm:"embedded"`
	StartsAt  models.Time // of the first occurrence, as EndsAt
	EndsAt    models.Time
	Repeat    Repeat
	TimeZone  string // IANA zone in which it repeats
	CreatedAt models.Time
	UpdatedAt models.Time
	DeletedAt models.Time // zero if not deleted
}

// TableName implements GORM's Tabler.
func (Maintenance) TableName() string { return "maintenance" }

// checkWindow validates and normalizes the fields that users set. before is the stored scope. The error has an entry for each invalid field.
func (s *Store) checkWindow(ctx context.Context, m *Maintenance, before Scope) error {
	errs := []error{cleanName(&m.Name, "Maintenance")}
	if m.Repeat == "" {
		m.Repeat = RepeatNone
	}
	if m.Repeat != RepeatNone { // repetitions have whole minutes
		m.StartsAt, m.EndsAt = models.At(m.StartsAt.Truncate(time.Minute)), models.At(m.EndsAt.Truncate(time.Minute))
	}
	most, ok := maxWindow[m.Repeat]
	if !ok {
		errs = append(errs, models.Invalid("repeat", "must be none, weekly or monthly"))
	}
	if m.StartsAt.IsZero() {
		errs = append(errs, models.Invalid("starts_at", "must be a date and time"))
	}
	took := m.EndsAt.Sub(m.StartsAt.Time)
	switch {
	case m.EndsAt.IsZero():
		errs = append(errs, models.Invalid("ends_at", "must be a date and time"))
	case m.StartsAt.IsZero():
	case took <= 0:
		errs = append(errs, models.Invalid("ends_at", "must be after starts_at"))
	case ok && took > most:
		errs = append(errs, models.Invalid("ends_at", "must be at most %d days after starts_at", int(most/models.Day)))
	}
	return models.Invalids(append(errs, checkZone("time_zone", &m.TimeZone), s.checkScope(ctx, &m.Scope, before))...)
}

// OccurrenceAt returns the occurrence that contains now. ok is false if there is none. Every occurrence starts and ends at the same local
// times as the first one.
func (m Maintenance) OccurrenceAt(now models.Time) (from, to models.Time, ok bool) {
	in := func(from, to models.Time) bool { return !now.Before(from.Time) && now.Before(to.Time) }
	if in(m.StartsAt, m.EndsAt) {
		return m.StartsAt, m.EndsAt, true
	}
	for _, i := range []int{0, -1} { // earlier ones have ended, see maxWindow
		if from, to, ok = m.occurrence(now, i); ok && in(from, to) {
			return from, to, true
		}
	}
	return models.Time{}, models.Time{}, false
}

// NextOccurrence returns the occurrence that contains now, or the next one. ok is false if there is none.
func (m Maintenance) NextOccurrence(now models.Time) (from, to models.Time, ok bool) {
	if from, to, ok = m.OccurrenceAt(now); ok {
		return from, to, true
	}
	if now.Before(m.StartsAt.Time) {
		return m.StartsAt, m.EndsAt, true
	}
	for i := range 4 { // two consecutive months never both lack a day
		if from, to, ok = m.occurrence(now, i); ok && from.After(now.Time) {
			return from, to, true
		}
	}
	return models.Time{}, models.Time{}, false
}

// occurrence returns a repetition of the window. For i = 0 it is the one of this month, or for weekly windows the last one that starts
// today or earlier. Other values of i are months or weeks from it. ok is false if the month does not have the day, or if the repetition
// is not after the first occurrence.
func (m Maintenance) occurrence(now models.Time, i int) (from, to models.Time, ok bool) {
	if m.Repeat == RepeatNone {
		return from, to, false
	}
	z, _ := loadZone(m.TimeZone)
	first, last, local := m.StartsAt.In(z), m.EndsAt.In(z), now.In(z)
	month, day := local.Month()+time.Month(i), first.Day()
	if m.Repeat == RepeatWeekly {
		month, day = local.Month(), local.Day()-(int(local.Weekday())-int(first.Weekday())+7)%7+7*i
	}
	start := localTime(local.Year(), month, day, first.Hour(), first.Minute(), z)
	end := localTime(local.Year(), month, day+days(first, last), last.Hour(), last.Minute(), z)
	if !end.After(start) { // a clock change makes the local times equal or reversed
		end = start.Add(m.EndsAt.Sub(m.StartsAt.Time))
	}
	fits := m.Repeat == RepeatWeekly || start.Day() == first.Day()
	return models.At(start), models.At(end), fits && start.After(first)
}

// days returns the number of calendar days between two times.
func days(from, to time.Time) int {
	date := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }
	return int(date(to).Sub(date(from)) / models.Day)
}

// Ended reports whether the window has ended and does not repeat.
func (m Maintenance) Ended(now models.Time) bool {
	return m.Repeat == RepeatNone && !now.Before(m.EndsAt.Time)
}

// AddMaintenance adds a window and sets its ID and timestamps. Errors are CodeInvalid, and CodeConflict if there are MaxWindows.
func (s *Store) AddMaintenance(ctx context.Context, m Maintenance) (Maintenance, error) {
	now := s.clock.Now()
	m.ID, m.CreatedAt, m.UpdatedAt = models.NewID(models.KindMaintenance), now, now
	if err := s.checkWindow(ctx, &m, Scope{}); err != nil {
		return Maintenance{}, err
	}
	return m, add(ctx, s, windows, &m)
}

// EditMaintenance applies fn to a window. Errors are CodeNotFound and those of AddMaintenance.
func (s *Store) EditMaintenance(ctx context.Context, id string, fn func(*Maintenance)) (Maintenance, error) {
	return change(ctx, s, windows, "edit", id, func(_ *gorm.DB, m *Maintenance) error {
		before := m.Scope
		fn(m)
		return s.checkWindow(ctx, m, before)
	})
}

// MaintenanceByID returns a window by ID. The error is CodeNotFound if it does not exist.
func (s *Store) MaintenanceByID(ctx context.Context, id string) (Maintenance, error) {
	return get[Maintenance](s.db.Read(ctx), windows, id, false)
}

// Maintenance returns a page of windows, oldest first. limit comes from models.NewLimit.
func (s *Store) Maintenance(ctx context.Context, after models.Cursor, limit int) (models.Slice[Maintenance], error) {
	return list(ctx, s, windows, after, limit, func(m Maintenance) models.Cursor { return models.Cursor{CreatedAt: m.CreatedAt, ID: m.ID} })
}

// DeleteMaintenance deletes a window. It can be restored for KeepDeleted. The error is CodeNotFound if it does not exist.
func (s *Store) DeleteMaintenance(ctx context.Context, id string) error {
	_, err := change(ctx, s, windows, "delete", id, func(_ *gorm.DB, m *Maintenance) error { m.DeletedAt = s.clock.Now(); return nil })
	return err
}

// RestoreMaintenance restores a deleted window. Errors are CodeNotFound if it is not deleted or was deleted more than KeepDeleted ago,
// and CodeConflict if there are MaxWindows.
func (s *Store) RestoreMaintenance(ctx context.Context, id string) (Maintenance, error) {
	return restore(ctx, s, windows, id, func(m *Maintenance) *models.Time { return &m.DeletedAt })
}
