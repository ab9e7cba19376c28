package alerts

import (
	"linkwatch/models/alerts"
	"linkwatch/views/ui"
)

// AlertHits returns the search hits of alerts.
func AlertHits(as []alerts.Alert, message func(alerts.Alert) string) []ui.Hit {
	hits := make([]ui.Hit, len(as))
	for i, a := range as {
		hits[i] = ui.Hit{
			Title: message(a), Path: alerts.AlertPath(a.ID), Private: a.PrivateTo != "", Level: a.Severity.String(), Mark: severityIcons[a.Severity], Status: state(a), Icon: stateIcons[state(a)],
		}
	}
	return hits
}

// SettingHits returns the search hits of channels, rules and maintenance windows.
func SettingHits(s alerts.Settings) (hits []ui.Hit) {
	for _, c := range s.Channels {
		hits = append(hits, ui.Hit{Title: c.Name, Detail: "channel: " + ServiceLabel(c.Kind), Path: ChannelPath(c.ID), Private: c.PrivateTo != ""})
	}
	for _, r := range s.Rules {
		hits = append(hits, ui.Hit{Title: r.Name, Detail: "alert rule", Path: RulePath(r.ID), Private: r.PrivateTo != ""})
	}
	for _, m := range s.Windows {
		hits = append(hits, ui.Hit{Title: m.Name, Detail: "maintenance window", Path: WindowPath(m.ID)})
	}
	return hits
}
