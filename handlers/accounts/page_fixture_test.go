package accounts_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models/accounts"
)

// The passwords of tests.
const (
	password    = "correct horse battery"
	newPassword = "another horse battery"
)

// addWithPassword adds an account with a password, which takes one slow hash.
func addWithPassword(s *apptest.App, name string, role accounts.Role) accounts.User {
	s.Helper()
	u, err := s.Systems.Accounts.Store.Add(s.TB.Context(), accounts.New{Username: name, Role: role, Password: password})
	s.Must(err)
	return u
}

// audited are the entries of the audit log, the oldest first: "alice user.edit bob {before} {after}".
func audited(s *apptest.App) (lines []string) {
	s.Helper()
	s.Must(s.Systems.Accounts.Store.Flush(s.Context()))
	var rows []struct{ Actor, Via, Action, SubjectName, Before, After string }
	s.Must(s.DB.Read(s.Context()).Raw("SELECT actor, via, action, subject_name, before, after FROM audit_entries ORDER BY seq").Scan(&rows).Error)
	for _, r := range rows {
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s %s", r.Actor, r.Via, r.Action, r.SubjectName, r.Before, r.After))
	}
	return lines
}

// wantAudited fails unless the audit log has an entry that begins so.
func wantAudited(s *apptest.App, begin string) {
	s.Helper()
	for _, line := range audited(s) {
		if strings.HasPrefix(line, begin) {
			return
		}
	}
	s.Errorf("no audit entry begins with %q: %q", begin, audited(s))
}

// noSecrets fails if the audit log, or the row of any account, holds one of the texts.
func noSecrets(s *apptest.App, secrets ...string) {
	s.Helper()
	log := strings.Join(audited(s), "\n")
	for _, secret := range append(secrets, password, newPassword) {
		if secret == "" || strings.Contains(log, secret) {
			s.Errorf("the audit log holds %q:\n%s", secret, log)
		}
	}
}

// wantError fails unless the page is a form with a message at a field.
func wantError(t *testing.T, p apptest.Page, status int, id, text string) {
	t.Helper()
	apptest.WantStatus(t, p, status)
	apptest.WantText(t, p, "#"+id, text)
	if p.Find(`[aria-invalid="true"][aria-describedby~="`+id+`"]`).Length() == 0 && !strings.HasPrefix(id, "access") && !strings.HasPrefix(id, "scopes") {
		t.Errorf("no field is marked as invalid by #%s", id)
	}
}

// wantLogin fails unless a page sends the reader to the login page.
func wantLogin(t *testing.T, p apptest.Page, what string) {
	t.Helper()
	if to := p.Header.Get("Location"); p.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to, "/login") {
		t.Errorf("%s: status %d, location %q", what, p.StatusCode, to)
	}
}

// form is a form with the given fields and values in turn.
func form(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return v
}
