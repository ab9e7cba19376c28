package sites

import (
	"fmt"

	"linkwatch/models"
	"linkwatch/models/event"
)

// Kinds of events of websites.
const (
	EventQuota   event.Kind = "quota.nearly_spent"
	EventDropped event.Kind = "page.dropped"
)

// Events returns the types of events of websites.
func Events() []event.Type {
	return []event.Type{
		{
			Kind: EventQuota, Severity: event.Warning, Label: "Quota nearly used", Help: "80% of a daily Google quota is used.", Subject: "website", Noun: "website",
			Verb: "has used 80% of a quota", PluralVerb: "have used 80% of a quota", Once: true,
		},
		{
			Kind: EventDropped, Severity: event.Warning, Label: "Page dropped from the index", Help: "Google no longer has a page in its index.", Subject: "page", Noun: "page",
			Verb: "is no longer indexed", PluralVerb: "are no longer indexed", Once: true,
		},
	}
}

// nearlyUsed is 80% of a daily quota, rounded up.
func nearlyUsed(limit int) int { return (limit*4 + 4) / 5 }

// quotaEvent is the event that a website used 80% of a quota, which it may share with others.
func quotaEvent(w Website, c Call, used, limit int, now models.Time) event.Event {
	return event.Event{
		Kind: EventQuota, Phase: event.Once, Severity: event.Warning, SubjectKind: "website", SubjectID: w.ID, Name: w.Name, URL: w.Property().Root(), Host: w.Property().Host(), At: now, PrivateTo: w.PrivateTo,
		Detail: fmt.Sprintf("%d of %d used today (%s)", used, limit, c),
	}
}

func droppedEvent(p Page, i Inspection, now models.Time) event.Event {
	e := event.Event{Kind: EventDropped, Phase: event.Once, Severity: event.Warning, SubjectKind: "page", SubjectID: p.ID(), Name: p.URL, URL: p.URL, At: now, Detail: i.CoverageState}
	if u, err := models.ParseURL("url", p.URL); err == nil {
		e.Host = models.HostPort(u.Canonical)
	}
	return e
}
