package alerts

import (
	"strings"
	"time"

	"linkwatch/models/alerts"
	"linkwatch/models/event"
	"linkwatch/views/ui"
)

// severityIcons are the shapes of severities.
var severityIcons = map[event.Severity]string{event.Critical: "dead", event.Warning: "alert", event.Info: "unchecked"}

// stateWords are the labels of the filters by state.
var stateWords = map[alerts.State]string{
	alerts.AnyState: "all", alerts.Unattended: "unacknowledged", alerts.Firing: "firing", alerts.Resolved: "resolved",
}

// states are the filters in their order.
var states = []alerts.State{alerts.AnyState, alerts.Unattended, alerts.Firing, alerts.Resolved}

// reasonWords say why a message was sent.
var reasonWords = map[alerts.Reason]string{
	alerts.FirstTime: "Alert", alerts.Worsening: "Worsened", alerts.Repeating: "Reminder", alerts.Escalating: "Escalation", alerts.Resolving: "Resolved",
}

// deliveryIcons are the shapes of delivery statuses.
var deliveryIcons = map[alerts.DeliveryStatus]string{
	alerts.DeliveryDelivered: "check", alerts.DeliveryPending: "clock", alerts.DeliveryFailed: "x",
}

// silences are the durations for which a button silences an alert.
var silences = []struct{ minutes, label, long string }{{"60", "1 h", "1 hour"}, {"480", "8 h", "8 hours"}, {"1440", "24 h", "24 hours"}}

// span is a number of minutes in words: "90 min" is "1 h 30 min".
func span(minutes int) string { return alerts.Duration(time.Duration(minutes) * time.Minute) }

// joined is a list that names at most n entries: "a, b and 3 more".
func joined(list []string, n int) string {
	if len(list) <= n {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:n], ", ") + " and " + ui.Count(len(list)-n) + " more"
}

// state is the state of an alert, in one word.
func state(a alerts.Alert) string {
	switch {
	case !a.Open():
		return "resolved"
	case !a.AcknowledgedAt.IsZero():
		return "acknowledged"
	}
	return "firing"
}

// stateIcons are the shapes of states.
var stateIcons = map[string]string{"firing": "pulse", "acknowledged": "check", "resolved": "check"}

// stateClass is the class of the state of an alert.
func stateClass(a alerts.Alert) string {
	if state(a) == "firing" {
		return a.Severity.String()
	}
	return state(a)
}
