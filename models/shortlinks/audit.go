package shortlinks

import "linkwatch/models/audit"

// auditSubject returns the short link as the subject of an audit entry.
func (l ShortLink) auditSubject() audit.Subject {
	return audit.Subject{Kind: "short_link", ID: l.Key, Name: l.DisplayTitle()}
}

// settings returns the values of an edit by their API names. private and disabled have
// their own audit actions. Unset values are nil.
func (l ShortLink) settings() audit.Values {
	v := audit.Values{"long_url": l.LongURL, "title": l.Title, "expires_at": nil, "max_visits": nil}
	if !l.ExpiresAt.IsZero() {
		v["expires_at"] = l.ExpiresAt.UTC().Format(timeFormat)
	}
	if l.MaxVisits > 0 {
		v["max_visits"] = l.MaxVisits
	}
	return v
}

const timeFormat = "2006-01-02T15:04:05.999999Z07:00"

// auditValues returns the values in the audit entry of a new or deleted short link.
func (l ShortLink) auditValues() audit.Values {
	v := audit.Values{"short_key": l.Key, "private": l.Private()}
	for name, value := range l.settings() {
		if value != nil && value != "" {
			v[name] = value
		}
	}
	return v
}

// auditChanges returns the audit changes between two states. audit.Add omits unchanged
// values.
func auditChanges(before, after ShortLink) []audit.Change {
	subject := after.auditSubject()
	switch {
	case !after.DeletedAt.IsZero():
		return []audit.Change{{Action: "short_link.delete", Subject: subject, Before: before.auditValues()}}
	case !before.DeletedAt.IsZero():
		return []audit.Change{{Action: "short_link.restore", Subject: subject}}
	}
	disable, share := "short_link.enable", "short_link.share"
	if after.Disabled {
		disable = "short_link.disable"
	}
	if after.Private() {
		share = "short_link.unshare"
	}
	return []audit.Change{
		{Action: "short_link.edit", Subject: subject, Before: before.settings(), After: after.settings()},
		{Action: disable, Subject: subject, Before: audit.Values{"disabled": before.Disabled}, After: audit.Values{"disabled": after.Disabled}},
		{Action: share, Subject: subject, Before: audit.Values{"private": before.Private()}, After: audit.Values{"private": after.Private()}},
	}
}
