package alerts

import (
	"linkwatch/models/audit"
)

func (c Channel) subject() audit.Subject {
	return audit.Subject{Kind: "channel", ID: c.ID, Name: c.Name}
}

func (c Channel) values() audit.Values {
	return audit.Values{"name": c.Name, "kind": c.Kind, "enabled": c.Enabled, "private": c.PrivateTo != ""}
}

func (r Rule) subject() audit.Subject {
	return audit.Subject{Kind: "alert_rule", ID: r.ID, Name: r.Name}
}

func (r Rule) values() audit.Values {
	v := audit.Values{
		"name": r.Name, "events": cloneList(r.Events), "channels": cloneList(r.Channels), "after_failures": r.AfterFailures, "after_minutes": r.AfterMinutes,
		"group_wait_seconds": r.GroupWaitSeconds, "repeat_minutes": r.RepeatMinutes, "quiet": nil, "escalate": nil, "enabled": r.Enabled, "private": r.PrivateTo != "",
	}
	if r.Quiet.From != "" {
		v["quiet"] = map[string]any{"from": r.Quiet.From, "to": r.Quiet.To, "time_zone": r.Quiet.TimeZone}
	}
	if r.EscalateAfterMinutes > 0 {
		v["escalate"] = map[string]any{"after_minutes": r.EscalateAfterMinutes, "channels": cloneList(r.EscalateChannels)}
	}
	return r.Scope.addTo(v)
}

func (m Maintenance) subject() audit.Subject {
	return audit.Subject{Kind: "maintenance", ID: m.ID, Name: m.Name}
}

func (m Maintenance) values() audit.Values {
	return m.Scope.addTo(audit.Values{"name": m.Name, "starts_at": m.StartsAt.Time, "ends_at": m.EndsAt.Time, "repeat": string(m.Repeat), "time_zone": m.TimeZone})
}

// addTo adds the lists of the scope to audit values.
func (s Scope) addTo(to audit.Values) audit.Values {
	to["targets"], to["tags"], to["status_pages"] = cloneList(s.Targets), cloneList(s.Tags), cloneList(s.StatusPages)
	to["subjects"] = append([]Ref{}, s.Subjects...)
	return to
}

// cloneList returns a copy of the list that is never nil.
func cloneList(l List) []string { return append([]string{}, l...) }

func (s *Store) subjectOf(a Alert) audit.Subject {
	return audit.Subject{Kind: "alert", ID: a.ID, Name: s.Message(a)}
}
