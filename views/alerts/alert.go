package alerts

import (
	"slices"

	"linkwatch/models"
	"linkwatch/models/alerts"
	"linkwatch/models/event"
	"linkwatch/views/ui"
)

// Shown is the maximum number of subjects and of messages on the page of an alert.
const Shown = 100

// Alert is the data of AlertPage.
type Alert struct {
	ui.Page
	Members
	Row        Row
	Deliveries []alerts.Delivery
	Names      map[string]string // channel names by ID
}

// moment is an entry of the timeline of an alert.
type moment struct {
	at   models.Time
	icon string
	text string
}

func (v Alert) moments() []moment {
	a := v.Row.Alert
	all := []moment{{a.StartedAt, "alert", "Started."}}
	for _, d := range v.Deliveries {
		if text := v.sent(d); len(all) == 1 || all[len(all)-1].text != text {
			all = append(all, moment{d.CreatedAt, "external", text})
		}
	}
	if !a.AcknowledgedAt.IsZero() {
		all = append(all, moment{a.AcknowledgedAt, "check", "Acknowledged."})
	}
	if !a.ResolvedAt.IsZero() && !v.Row.Once {
		all = append(all, moment{a.ResolvedAt, "check", "Resolved after " + alerts.FormatDuration(a.Duration(a.ResolvedAt.Time)) + "."})
	}
	slices.SortStableFunc(all, func(x, y moment) int { return x.at.Compare(y.at.Time) })
	return all
}

// sent describes a message that was queued.
func (v Alert) sent(d alerts.Delivery) string {
	name := ChannelName(v.Names, d.ChannelID)
	switch d.Reason {
	case alerts.ReasonWorse:
		return "Sent to " + name + ": worsened."
	case alerts.ReasonRepeated:
		return "Reminder sent to " + name + "."
	case alerts.ReasonEscalated:
		return "Escalated to " + name + "."
	case alerts.ReasonResolved:
		return "Sent to " + name + ": resolved."
	case alerts.ReasonFired:
	}
	return "Sent to " + name + "."
}

// Manage is the data of ManagePage.
type Manage struct {
	Members
	Message string
	Key     string
	Done    string // notice of the last action; "" if none
	Now     models.Time
}

// state describes the state of a subject.
func (v Manage) state(m alerts.AlertSubject) string {
	switch {
	case v.Type.Once:
		return ui.Clock(m.SinceAt.Time)
	case !m.EndedAt.IsZero():
		return "Recovered " + ui.Clock(m.EndedAt.Time)
	case !m.AcknowledgedAt.IsZero():
		return "Since " + ui.Clock(m.SinceAt.Time) + ". Acknowledged."
	}
	return "Since " + ui.Clock(m.SinceAt.Time)
}

func (v Alert) silenced() bool { return v.Row.Silenced(models.At(v.Now)) }

// Members are the subjects of an alert.
type Members struct {
	Alert    alerts.Alert
	Type     event.Type
	Subjects []alerts.AlertSubject // the first Shown
}

// waits reports whether a subject can be acknowledged: its condition has not ended, and it is not acknowledged. Events without a duration
// are never acknowledged.
func (v Members) waits(m alerts.AlertSubject) bool {
	return v.Alert.Open() && m.EndedAt.IsZero() && m.AcknowledgedAt.IsZero() && !v.Type.Once
}

// several reports whether subjects can be acknowledged one by one.
func (v Members) several() bool { return v.Alert.Open() && v.Alert.SubjectCount > 1 && !v.Type.Once }

// unacknowledged reports whether any subject shown can be acknowledged.
func (v Members) unacknowledged() bool {
	return v.Alert.AcknowledgedAt.IsZero() || slices.ContainsFunc(v.Subjects, v.waits)
}

// acknowledged reports whether any subject shown is acknowledged.
func (v Members) acknowledged() bool {
	return !v.Alert.AcknowledgedAt.IsZero() || slices.ContainsFunc(v.Subjects, func(m alerts.AlertSubject) bool {
		return m.EndedAt.IsZero() && !m.AcknowledgedAt.IsZero()
	})
}
