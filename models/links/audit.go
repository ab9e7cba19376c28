package links

import (
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// The audit log has one entry for each action, also for an action on many links.

// auditLinks adds an audit entry for an action on links. It stores before and the link's values of after only for
// a single link.
func auditLinks(tx *gorm.DB, now models.Time, action string, ls []Link, before, after audit.Values) error {
	if len(ls) == 0 {
		return nil
	}
	ids := make([]string, len(ls))
	for i, l := range ls {
		ids[i] = l.ID
	}
	subject, which := audit.Several("link", ids)
	if len(ls) == 1 {
		subject.Name = ls[0].DisplayTitle()
	} else {
		for name, value := range after {
			which[name] = value
		}
		before, after = nil, which // the old values differ by link
	}
	return audit.Add(tx, now, audit.Change{Action: "link." + action, Subject: subject, Before: before, After: after})
}

// auditAdd adds an audit entry for new links.
func auditAdd(tx *gorm.DB, now models.Time, ls []Link) error {
	after := audit.Values{}
	if len(ls) == 1 {
		l := ls[0]
		after = audit.Values{"url": l.URL, "title": l.OwnTitle, "notes": l.Notes, "tags": copyTags(l), "owner": l.Owner, "private": l.Private()}
	}
	return auditLinks(tx, now, "add", ls, nil, after)
}

// auditNewTags adds an audit entry for added tags: newTags[i] on ls[i], which had oldTags[i].
func auditNewTags(tx *gorm.DB, now models.Time, ls []Link, oldTags, newTags [][]string) error {
	var changed []Link
	var old, names []string
	for i, l := range ls {
		if len(newTags[i]) == 0 {
			continue
		}
		changed, old = append(changed, l), oldTags[i]
		for _, name := range newTags[i] {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(changed) == 1 {
		return auditTags(tx, now, "tag", changed[0], old)
	}
	return auditLinks(tx, now, "tag", changed, nil, audit.Values{"tags": names[:min(len(names), MaxTags)]})
}

// auditTags adds an audit entry for a change of the tags of one link.
func auditTags(tx *gorm.DB, now models.Time, action string, l Link, oldTags []string) error {
	return auditLinks(tx, now, action, []Link{l}, audit.Values{"tags": oldTags}, audit.Values{"tags": copyTags(l)})
}

func copyAllTags(ls []Link) [][]string {
	all := make([][]string, len(ls))
	for i, l := range ls {
		all[i] = copyTags(l)
	}
	return all
}

// copyTags returns a copy of the tags of a link. It is never nil, so that JSON has [].
func copyTags(l Link) []string { return append([]string{}, l.Tags...) }
