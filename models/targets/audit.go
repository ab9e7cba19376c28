package targets

import (
	"maps"

	"linkwatch/models/audit"
)

// auditSubject is the target as the subject of an audit entry.
func (t Target) auditSubject() audit.Subject {
	return audit.Subject{Kind: "target", ID: t.ID, Name: t.DisplayTitle()}
}

// settings returns what an edit can change, named as in the API. Pausing and sharing
// are not included because they are separate audit actions.
func (t Target) settings() audit.Values {
	return audit.Values{
		"name": t.Name, "interval_seconds": t.IntervalSeconds, "expect.status": t.Expect.Status, "expect.keyword": t.Expect.Keyword,
		"expect.keyword_absent": t.Expect.KeywordAbsent, "expect.max_latency_ms": t.Expect.MaxLatencyMS,
	}
}

// auditValues returns the values for the audit entry of a new target: its URL and the
// settings that are not empty.
func (t Target) auditValues() audit.Values {
	v := t.settings()
	maps.DeleteFunc(v, func(_ string, value any) bool { return value == "" || value == 0 })
	v["url"], v["private"] = t.URL, t.Private()
	return v
}

// auditChanges returns the changes between two versions of a target. audit.Add omits
// those without a difference.
func auditChanges(before, after Target) []audit.Change {
	pause, share := "target.resume", "target.share"
	if after.Paused {
		pause = "target.pause"
	}
	if after.Private() {
		share = "target.unshare"
	}
	subject := after.auditSubject()
	return []audit.Change{
		{Action: "target.edit", Subject: subject, Before: before.settings(), After: after.settings()},
		{Action: pause, Subject: subject, Before: audit.Values{"paused": before.Paused}, After: audit.Values{"paused": after.Paused}},
		{Action: share, Subject: subject, Before: audit.Values{"private": before.Private()}, After: audit.Values{"private": after.Private()}},
	}
}
