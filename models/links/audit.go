package links

import (
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// What requests do to links and tags goes into the audit log, one entry for a batch.

// done stores that something was done to links, with what it changed if there is one.
func done(tx *gorm.DB, now models.Time, action string, ls []Link, before, after audit.Values) error {
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
		before, after = nil, which // each link had values of its own
	}
	return audit.Add(tx, now, audit.Change{Action: "link." + action, Subject: subject, Before: before, After: after})
}

// added stores that links were added.
func added(tx *gorm.DB, now models.Time, ls []Link) error {
	after := audit.Values{}
	if len(ls) == 1 {
		l := ls[0]
		after = audit.Values{"url": l.URL, "title": l.OwnTitle, "notes": l.Notes, "tags": tagsAre(l), "owner": l.Owner, "private": l.Private()}
	}
	return done(tx, now, "add", ls, nil, after)
}

// tagged stores that tags were added to links: more[i] to ls[i], which had before[i].
func tagged(tx *gorm.DB, now models.Time, ls []Link, before, more [][]string) error {
	var changed []Link
	var was, names []string
	for i, l := range ls {
		if len(more[i]) == 0 {
			continue
		}
		changed, was = append(changed, l), before[i]
		for _, name := range more[i] {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(changed) == 1 {
		return retagged(tx, now, "tag", changed[0], was)
	}
	return done(tx, now, "tag", changed, nil, audit.Values{"tags": names[:min(len(names), MaxTags)]})
}

// retagged stores that the tags of a link were others before.
func retagged(tx *gorm.DB, now models.Time, action string, l Link, was []string) error {
	return done(tx, now, action, []Link{l}, audit.Values{"tags": was}, audit.Values{"tags": tagsAre(l)})
}

// tagsOfAll are copies of the tags of links.
func tagsOfAll(ls []Link) [][]string {
	all := make([][]string, len(ls))
	for i, l := range ls {
		all[i] = tagsAre(l)
	}
	return all
}

// tagsAre is a copy of the tags of a link that is never nil.
func tagsAre(l Link) []string { return append([]string{}, l.Tags...) }
