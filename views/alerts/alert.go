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
	Row        Row
	Type       event.Type
	Subjects   []alerts.AlertSubject
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
	Alert   alerts.Alert
	Message string
	Key     string
	Done    string // notice of the last action; "" if none
	Now     models.Time
}

func (v Alert) silenced() bool { return v.Row.Silenced(models.At(v.Now)) }
