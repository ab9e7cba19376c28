package accounts

import (
	"net/url"
	"strings"

	"linkwatch/models/audit"
)

// subjects are the kinds of things in the audit log, with the paths of their pages. A kind without a path is shown
// without a link.
var subjects = []struct {
	kind string
	path func(id string) string // nil = no page
}{
	{"link", below("/links/")},
	{"tag", nil},
	{"target", below("/watch/")},
	{"status_page", nil},
	{"short_link", below("/short/")},
	{"source", nil},
	{"job", jobPath},
	{"execution", below("/crawl/executions/")},
	{"crawled_page", below("/crawl/pages/")},
	{"discovered_link", nil},
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
	{"audit", nil},
}

// actions are the actions that do not start with the kind of a subject.
var actions = []string{"login", "login.failed", "login.throttled", "login.refused", "logout", "password.failed", "code.failed", "access.denied", "credential.refused", "item.read"}

func below(path string) func(id string) string {
	return func(id string) string { return path + url.PathEscape(id) }
}

// jobPath returns the page of a crawl job (id j_…), or of a scheduled job, whose id is a word.
func jobPath(id string) string {
	if strings.HasPrefix(id, "j_") {
		return "/crawl/jobs/" + url.PathEscape(id)
	}
	return "/admin/jobs/" + url.PathEscape(id)
}

// subjectPath returns the path of the page of an entry's subject; "" = none.
func subjectPath(e audit.Entry) string {
	for _, s := range subjects {
		if s.kind == e.SubjectKind && s.path != nil && e.SubjectID != "" {
			return s.path(e.SubjectID)
		}
	}
	return ""
}

// suggestedActions returns the suggestions of the action filter: a prefix for each kind, then the other actions.
func suggestedActions() (all []string) {
	for _, s := range subjects {
		all = append(all, s.kind+".")
	}
	return append(all, actions...)
}
