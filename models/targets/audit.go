package targets

import (
	"maps"

	"linkwatch/models/audit"
)

// auditSubject is the target as the subject of an audit entry.
func (t Target) auditSubject() audit.Subject {
	return audit.Subject{Kind: "target", ID: t.ID, Name: t.DisplayTitle()}
}

// settings are what an edit can change, as the API names it, without who sees the target
// and whether it is paused: these have actions of their own.
func (t Target) settings() audit.Values {
	return audit.Values{
		"name": t.Name, "interval_seconds": t.IntervalSeconds, "expect.status": t.Expect.Status, "expect.keyword": t.Expect.Keyword,
		"expect.keyword_absent": t.Expect.KeywordAbsent, "expect.max_latency_ms": t.Expect.MaxLatencyMS,
	}
}

// auditValues is what the entry of a new target holds: its URL, and the settings that it has.
func (t Target) auditValues() audit.Values {
	v := t.settings()
	maps.DeleteFunc(v, func(_ string, value any) bool { return value == "" || value == 0 })
	v["url"], v["private"] = t.URL, t.Private()
	return v
}

// auditChanges are the changes from one state of a target to another. Those of what stayed as it
// was are left out by audit.Add.
func auditChanges(before, after Target) []audit.Change {
	pause, share := "target.resume", "target.share"
	if after.Paused {
		pause = "target.pause"
	}
	if after.Private() {
		share = "target.unshare"
	}
	of := after.auditSubject()
	return []audit.Change{
		{Action: "target.edit", Subject: of, Before: before.settings(), After: after.settings()},
		{Action: pause, Subject: of, Before: audit.Values{"paused": before.Paused}, After: audit.Values{"paused": after.Paused}},
		{Action: share, Subject: of, Before: audit.Values{"private": before.Private()}, After: audit.Values{"private": after.Private()}},
	}
}
