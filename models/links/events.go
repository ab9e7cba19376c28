package links

import (
	"linkwatch/models"
	"linkwatch/models/event"
)

// Kinds of events of links.
const (
	EventDead  event.Kind = "link.dead"
	EventMoved event.Kind = "link.moved"
)

// Events returns the types of events of links.
func Events() []event.Type {
	return []event.Type{
		{
			Kind: EventDead, Severity: event.Warning, Label: "Link dead", Help: "A saved link is gone, or its checks failed on three days in a row.", Subject: "link", Noun: "saved link",
			Verb: "is dead", PluralVerb: "are dead", Once: true, Default: true,
		},
		{
			Kind: EventMoved, Severity: event.Info, Label: "Link moved", Help: "A saved link redirects permanently.", Subject: "link", Noun: "saved link",
			Verb: "has moved", PluralVerb: "have moved", Once: true,
		},
	}
}

// events returns an event for each link that has died or moved. before[i] is the previous state of after[i].
func events(before, after []Link, now models.Time) (all []event.Event) {
	for i, l := range after {
		if l.Health == before[i].Health {
			continue
		}
		e := event.Event{Phase: event.Once, SubjectKind: "link", SubjectID: l.ID, Name: l.DisplayTitle(), URL: l.CanonicalURL, PrivateTo: l.PrivateTo, At: now}
		if u, err := models.ParseURL("url", l.URL); err == nil {
			e.Host = models.HostPort(u.Canonical)
		}
		switch l.Health {
		case Dead:
			e.Kind, e.Severity, e.Detail = EventDead, event.Warning, l.LastError
		case Moved:
			e.Kind, e.Severity, e.Detail = EventMoved, event.Info, "to "+l.MovedTo
		case Unchecked, OK, Blocked, Suspect:
			continue
		}
		all = append(all, e)
	}
	return all
}
