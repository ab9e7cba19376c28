package alerts

import (
	"strings"
	"time"

	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/views/ui"
)

// Windows is the data of WindowsPage.
type Windows struct {
	ui.Page
	Windows []alerts.Maintenance
	Names
}

// WindowForm is the data of WindowFormPage.
type WindowForm struct {
	ui.Page
	Saved        alerts.Maintenance // zero for a new window
	Name         string
	Starts, Ends string // local times in TimeZone: 2026-03-24T12:00
	Repeat       alerts.Repeat
	TimeZone     string
	Scope        Scope
	Errors       ui.Errors
}

// LocalTime is the format of datetime-local inputs.
const LocalTime = "2006-01-02T15:04"

func (v WindowForm) title() string {
	if v.Saved.ID == "" {
		return "Add maintenance window"
	}
	return v.Saved.Name
}

func (v WindowForm) action() string {
	if v.Saved.ID == "" {
		return MaintenancePath
	}
	return WindowPath(v.Saved.ID)
}

var repeatWords = map[alerts.Repeat]string{alerts.RepeatNone: "once", alerts.RepeatWeekly: "weekly", alerts.RepeatMonthly: "monthly"}

func zoneOf(m alerts.Maintenance) *time.Location {
	z, err := time.LoadLocation(m.TimeZone)
	if err != nil { // validated before it was stored
		return time.UTC
	}
	return z
}

// repeats describes the recurrence of a window: "Every Sunday at 22:00 Europe/Berlin, for 1 h". The duration of a repeating window is the
// difference of its local times, because the first occurrence may contain a clock change.
func repeats(m alerts.Maintenance) string {
	z := zoneOf(m)
	first, last := m.StartsAt.In(z), m.EndsAt.In(z)
	took := "for " + alerts.FormatDuration(last.Sub(first))
	if m.Repeat != alerts.RepeatNone {
		_, before := first.Zone()
		_, after := last.Zone()
		took = "for " + alerts.FormatDuration(last.Sub(first)+time.Duration(after-before)*time.Second)
	}
	from := first.Format("15:04") + " " + m.TimeZone
	switch m.Repeat {
	case alerts.RepeatWeekly:
		return "Every " + first.Weekday().String() + " at " + from + ", " + took
	case alerts.RepeatMonthly:
		return "On day " + first.Format("2") + " of each month at " + from + ", " + took
	case alerts.RepeatNone:
	}
	return "Once, " + took
}

// occurrence describes the current or next occurrence of a window in its time zone. active reports whether it is now. text is "" if the
// window has ended.
func occurrence(m alerts.Maintenance, now time.Time) (text string, active bool) {
	from, to, ok := m.NextOccurrence(models.At(now))
	if !ok {
		return "", false
	}
	const format = "Mon 2 Jan 2006, 15:04"
	z := zoneOf(m)
	return from.In(z).Format(format) + " – " + to.In(z).Format(format) + " " + m.TimeZone, !now.Before(from.Time)
}

// EditedWindow are the stored values of the form of a maintenance window.
func EditedWindow(m alerts.Maintenance) ui.Edited {
	z := zoneOf(m)
	return ui.Edited{}.Text("name", WindowLabels["name"], m.Name).Text("starts_at", WindowLabels["starts_at"], m.StartsAt.In(z).Format(LocalTime)).
		Text("ends_at", WindowLabels["ends_at"], m.EndsAt.In(z).Format(LocalTime)).Text("time_zone", WindowLabels["time_zone"], m.TimeZone).
		Text("repeat", WindowLabels["repeat"], string(m.Repeat)).Multiple("targets", scopeLabels["targets"], m.Scope.Targets).
		Multiple("subjects", scopeLabels["subjects"], itemIDs(m.Scope.Subjects)).Multiple("status_pages", "Status pages", m.Scope.StatusPages).Text("tags", scopeLabels["tags"], strings.Join(m.Scope.Tags, ", "))
}
