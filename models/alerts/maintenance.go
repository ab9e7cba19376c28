package alerts

import (
	"context"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// Repeat says how often a maintenance window repeats.
type Repeat string

// The repeats.
const (
	RepeatNone    Repeat = "none"
	RepeatWeekly  Repeat = "weekly"
	RepeatMonthly Repeat = "monthly" // months without that day are skipped
)

// Repeats are all of them.
func Repeats() []Repeat { return []Repeat{RepeatNone, RepeatWeekly, RepeatMonthly} }

// maxWindow is the longest duration of one occurrence. A repeating window ends before its next occurrence starts.
var maxWindow = map[Repeat]time.Duration{RepeatNone: 366 * models.Day, RepeatWeekly: 7 * models.Day, RepeatMonthly: 28 * models.Day}

// Maintenance is a time in which no alerts are sent and that does not count against uptime.
type Maintenance struct {
	Seq       int64 `gorm:"primaryKey"`
	ID        string
	Name      string
	Scope     Scope       `gorm:"embedded"`
	StartsAt  models.Time // the first time
	EndsAt    models.Time
	Repeat    Repeat
	TimeZone  string // by whose clock it is repeated
	CreatedAt models.Time
	UpdatedAt models.Time
	DeletedAt models.Time // zero = not deleted
}

// TableName implements GORM's Tabler.
func (Maintenance) TableName() string { return "maintenance" }

// check checks and tidies what users enter. The error has an entry for each wrong member.
func (m *Maintenance) check() error {
	errs := []error{cleanName(&m.Name, "Maintenance")}
	if m.Repeat == "" {
		m.Repeat = RepeatNone
	}
	if m.Repeat != RepeatNone { // it is repeated by minutes on the wall
		m.StartsAt, m.EndsAt = models.At(m.StartsAt.Truncate(time.Minute)), models.At(m.EndsAt.Truncate(time.Minute))
	}
	most, ok := maxWindow[m.Repeat]
	if !ok {
		errs = append(errs, models.Invalid("repeat", "must be none, weekly or monthly"))
	}
	if m.StartsAt.IsZero() {
		errs = append(errs, models.Invalid("starts_at", "must be a date and a time"))
	}
	took := m.EndsAt.Sub(m.StartsAt.Time)
	switch {
	case m.EndsAt.IsZero():
		errs = append(errs, models.Invalid("ends_at", "must be a date and a time"))
	case m.StartsAt.IsZero():
	case took <= 0:
		errs = append(errs, models.Invalid("ends_at", "must be after starts_at"))
	case ok && took > most:
		errs = append(errs, models.Invalid("ends_at", "must be at most %d days after starts_at", int(most/models.Day)))
	}
	return models.Invalids(append(errs, checkZone("time_zone", &m.TimeZone), m.Scope.check())...)
}

// Around returns the occurrence of the window that a time is in; ok is false if it is in none.
// An occurrence begins and ends at the same times on the wall as the first one.
func (m Maintenance) Around(now models.Time) (from, to models.Time, ok bool) {
	in := func(from, to models.Time) bool { return !now.Before(from.Time) && now.Before(to.Time) }
	if in(m.StartsAt, m.EndsAt) {
		return m.StartsAt, m.EndsAt, true
	}
	for _, i := range []int{0, -1} { // no other may last until now
		if from, to, ok = m.occurrence(now, i); ok && in(from, to) {
			return from, to, true
		}
	}
	return models.Time{}, models.Time{}, false
}

// Next returns the occurrence that a time is in, or else the next one; ok is false if there is none.
func (m Maintenance) Next(now models.Time) (from, to models.Time, ok bool) {
	if from, to, ok = m.Around(now); ok {
		return from, to, true
	}
	if now.Before(m.StartsAt.Time) {
		return m.StartsAt, m.EndsAt, true
	}
	for i := range 4 { // no two months in a row are without a day
		if from, to, ok = m.occurrence(now, i); ok && from.After(now.Time) {
			return from, to, true
		}
	}
	return models.Time{}, models.Time{}, false
}

// occurrence is a repetition of the window. i = 0 is that of this month, or the last one that begins today or before if it is weekly; others are i months or weeks
// from it. ok is false if the month is without that day, or the first occurrence begins then or later.
func (m Maintenance) occurrence(now models.Time, i int) (from, to models.Time, ok bool) {
	if m.Repeat == RepeatNone {
		return from, to, false
	}
	z, _ := zone(m.TimeZone)
	first, last, local := m.StartsAt.In(z), m.EndsAt.In(z), now.In(z)
	month, day := local.Month()+time.Month(i), first.Day()
	if m.Repeat == RepeatWeekly {
		month, day = local.Month(), local.Day()-(int(local.Weekday())-int(first.Weekday())+7)%7+7*i
	}
	start := wall(local.Year(), month, day, first.Hour(), first.Minute(), z)
	end := wall(local.Year(), month, day+days(first, last), last.Hour(), last.Minute(), z)
	if !end.After(start) { // the clock skips it, or goes back during the first one
		end = start.Add(m.EndsAt.Sub(m.StartsAt.Time))
	}
	fits := m.Repeat == RepeatWeekly || start.Day() == first.Day()
	return models.At(start), models.At(end), fits && start.After(first)
}

// days is how many days later than from to is, by the calendar.
func days(from, to time.Time) int {
	date := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }
	return int(date(to).Sub(date(from)) / models.Day)
}

// Over reports whether the window has ended for good.
func (m Maintenance) Over(now models.Time) bool {
	return m.Repeat == RepeatNone && !now.Before(m.EndsAt.Time)
}

// AddMaintenance adds a window; its ID and times are set here. Errors are CodeInvalid for a member that
// is not as it must be and CodeConflict if there are MaxWindows.
func (s *Store) AddMaintenance(ctx context.Context, m Maintenance) (Maintenance, error) {
	now := s.clock.Now()
	m.ID, m.CreatedAt, m.UpdatedAt = models.NewID(models.KindMaintenance), now, now
	if err := m.check(); err != nil {
		return Maintenance{}, err
	}
	return m, add(ctx, s, windows, &m)
}

// EditMaintenance changes a window by fn. Errors are CodeNotFound and those of AddMaintenance.
func (s *Store) EditMaintenance(ctx context.Context, id string, fn func(*Maintenance)) (Maintenance, error) {
	return change(ctx, s, windows, "edit", id, func(_ *gorm.DB, m *Maintenance) error { fn(m); return m.check() })
}

// MaintenanceOf is the window of an id; CodeNotFound if there is none.
func (s *Store) MaintenanceOf(ctx context.Context, id string) (Maintenance, error) {
	return get[Maintenance](s.db.Read(ctx), windows, id, false)
}

// Maintenance is a page of the windows, the oldest first. limit is as models.NewLimit made it.
func (s *Store) Maintenance(ctx context.Context, after models.Cursor, limit int) (models.Slice[Maintenance], error) {
	return list(ctx, s, windows, after, limit, func(m Maintenance) models.Cursor { return models.Cursor{CreatedAt: m.CreatedAt, ID: m.ID} })
}

// DeleteMaintenance deletes a window, which can be restored for KeepDeleted. CodeNotFound if there is none.
func (s *Store) DeleteMaintenance(ctx context.Context, id string) error {
	_, err := change(ctx, s, windows, "delete", id, func(_ *gorm.DB, m *Maintenance) error { m.DeletedAt = s.clock.Now(); return nil })
	return err
}

// RestoreMaintenance restores a deleted window: CodeNotFound if it was not deleted, or too long ago,
// and CodeConflict if there are MaxWindows.
func (s *Store) RestoreMaintenance(ctx context.Context, id string) (Maintenance, error) {
	return restore(ctx, s, windows, id, func(m *Maintenance) *models.Time { return &m.DeletedAt })
}
