package alerts

import (
	"strings"
	"time"

	"linkwatch/models/alerts"
	"linkwatch/models/event"
	"linkwatch/views/ui"
)

var severityIcons = map[event.Severity]string{event.Critical: "dead", event.Warning: "alert", event.Info: "unchecked"}

// stateWords are the labels of the state filters.
var stateWords = map[alerts.State]string{
	alerts.AnyState: "all", alerts.Unacknowledged: "unacknowledged", alerts.Firing: "firing", alerts.Resolved: "resolved",
}

// states are the state filters in display order.
var states = []alerts.State{alerts.AnyState, alerts.Unacknowledged, alerts.Firing, alerts.Resolved}

var reasonWords = map[alerts.Reason]string{
	alerts.ReasonFired: "Alert", alerts.ReasonWorse: "Worsened", alerts.ReasonRepeated: "Reminder", alerts.ReasonEscalated: "Escalation", alerts.ReasonResolved: "Resolved",
}

var deliveryIcons = map[alerts.DeliveryStatus]string{
	alerts.DeliveryDelivered: "check", alerts.DeliveryPending: "clock", alerts.DeliveryFailed: "x",
}

// silences are the durations of the silence buttons.
var silences = []struct{ minutes, label, long string }{{"60", "1 h", "1 hour"}, {"480", "8 h", "8 hours"}, {"1440", "24 h", "24 hours"}}

// span formats minutes: 90 is "1 h 30 min".
func span(minutes int) string { return alerts.FormatDuration(time.Duration(minutes) * time.Minute) }

// joined joins at most n entries: "a, b and 3 more".
func joined(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:n], ", ") + " and " + ui.Count(len(list)-n) + " more"
}

func state(a alerts.Alert) string {
	switch {
	case !a.Open():
		return "resolved"
	case !a.AcknowledgedAt.IsZero():
		return "acknowledged"
	}
	return "firing"
}

var stateIcons = map[string]string{"firing": "pulse", "acknowledged": "check", "resolved": "check"}

// stateClass returns the CSS class of an alert: its severity while it is firing, otherwise its state.
func stateClass(a alerts.Alert) string {
	if state(a) == "firing" {
		return a.Severity.String()
	}
	return state(a)
}
