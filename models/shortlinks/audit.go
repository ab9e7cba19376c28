package shortlinks

import "linkwatch/models/audit"

// audited is the short link as the subject of an audit entry.
func (l ShortLink) audited() audit.Subject {
	return audit.Subject{Kind: "short_link", ID: l.Key, Name: l.DisplayTitle()}
}

// settings are what an edit can change, as the API names it, without who sees the short
// link and whether it is disabled: these have actions of their own. Times are texts, nil is
// what is not set.
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

// added is what the entry of a new short link holds.
func (l ShortLink) added() audit.Values {
	v := audit.Values{"short_key": l.Key, "private": l.Private()}
	for name, value := range l.settings() {
		if value != nil && value != "" {
			v[name] = value
		}
	}
	return v
}

// changes are what happened between one state of a short link and another. What stayed as it
// was is left out by audit.Add.
func changes(before, after ShortLink) []audit.Change {
	of := after.audited()
	switch {
	case !after.DeletedAt.IsZero():
		return []audit.Change{{Action: "short_link.delete", Subject: of, Before: before.added()}}
	case !before.DeletedAt.IsZero():
		return []audit.Change{{Action: "short_link.restore", Subject: of}}
	}
	disable, share := "short_link.enable", "short_link.share"
	if after.Disabled {
		disable = "short_link.disable"
	}
	if after.Private() {
		share = "short_link.unshare"
	}
	return []audit.Change{
		{Action: "short_link.edit", Subject: of, Before: before.settings(), After: after.settings()},
		{Action: disable, Subject: of, Before: audit.Values{"disabled": before.Disabled}, After: audit.Values{"disabled": after.Disabled}},
		{Action: share, Subject: of, Before: audit.Values{"private": before.Private()}, After: audit.Values{"private": after.Private()}},
	}
}
