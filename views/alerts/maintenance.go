package alerts

import (
	"time"

	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/views/ui"
)

// Windows is the list of maintenance windows.
type Windows struct {
	ui.Page
	Windows []alerts.Maintenance
	Names
}

// WindowForm is the page with the form of a maintenance window.
type WindowForm struct {
	ui.Page
	Saved        alerts.Maintenance // zero = a new one
	Name         string
	Starts, Ends string // by the clock of TimeZone: 2026-03-24T12:00
	Repeat       alerts.Repeat
	TimeZone     string
	Scope        Scope
	Errors       ui.Errors
}

// LocalTime is how browsers send the value of a field of type datetime-local.
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

// zoneOf is the time zone of a window.
func zoneOf(m alerts.Maintenance) *time.Location {
	z, err := time.LoadLocation(m.TimeZone)
	if err != nil { // it was checked when it was stored
		return time.UTC
	}
	return z
}

// repeats is how often a window occurs, in words: "Every Sunday at 22:00 Europe/Berlin, for 1 h". A repeating window lasts as long as
// the local times of its start and end say, since the first occurrence may contain a clock change.
func repeats(m alerts.Maintenance) string {
	z := zoneOf(m)
	first, last := m.StartsAt.In(z), m.EndsAt.In(z)
	took := "for " + alerts.Duration(last.Sub(first))
	if m.Repeat != alerts.RepeatNone {
		_, before := first.Zone()
		_, after := last.Zone()
		took = "for " + alerts.Duration(last.Sub(first)+time.Duration(after-before)*time.Second)
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

// occurrence is when a window is next, in its time zone; active is whether that is now. text is "" if it does not come again.
func occurrence(m alerts.Maintenance, now time.Time) (text string, active bool) {
	from, to, ok := m.Next(models.At(now))
	if !ok {
		return "", false
	}
	const format = "Mon 2 Jan 2006, 15:04"
	z := zoneOf(m)
	return from.In(z).Format(format) + " – " + to.In(z).Format(format) + " " + m.TimeZone, !now.Before(from.Time)
}
