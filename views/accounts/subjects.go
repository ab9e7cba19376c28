package accounts

import (
	"net/url"
	"strings"

	"linkwatch/models/audit"
)

// subjects are the kinds of things that the audit log names: the only place that knows where
// their pages are. Other kinds are shown without a link.
var subjects = []struct {
	kind string
	path func(id string) string // nil = there is no page of one
}{
	{"link", below("/links/")},
	{"tag", nil},
	{"target", below("/watch/")},
	{"status_page", nil},
	{"short_link", below("/short/")},
	{"source", nil},
	{"job", jobPath},
	{"feed", nil},
	{"frontier_entry", nil},
	{"website", below("/sites/")},
	{"sitemap", nil},
	{"page", nil},
	{"channel", below("/alerts/channels/")},
	{"alert_rule", below("/alerts/rules/")},
	{"maintenance", below("/alerts/maintenance/")},
	{"alert", below("/alerts/")},
	{"user", below(UsersPath + "/")},
	{"token", nil},
	{"session", nil},
}

// actions are actions that do not begin with the kind of a subject.
var actions = []string{"login", "login.failed", "login.throttled", "login.refused", "logout", "password.failed", "access.denied", "credential.refused"}

func below(path string) func(id string) string {
	return func(id string) string { return path + url.PathEscape(id) }
}

// jobPath is the page of a crawl, or of a scheduled job, whose id is a word.
func jobPath(id string) string {
	if strings.HasPrefix(id, "j_") {
		return "/crawl/jobs/" + url.PathEscape(id)
	}
	return "/admin/jobs/" + url.PathEscape(id)
}

// subjectPath is the page of what an entry is about; "" = there is none.
func subjectPath(e audit.Entry) string {
	for _, s := range subjects {
		if s.kind == e.SubjectKind && s.path != nil && e.SubjectID != "" {
			return s.path(e.SubjectID)
		}
	}
	return ""
}

// suggested are the actions that the filter suggests: one group for each kind, then others.
func suggested() (all []string) {
	for _, s := range subjects {
		all = append(all, s.kind+".")
	}
	return append(all, actions...)
}
