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

const (
	password    = "correct horse battery"
	newPassword = "another horse battery"
)

// addWithPassword adds an account with a password. It computes a slow hash.
func addWithPassword(s *apptest.App, name string, role accounts.Role) accounts.User {
	s.Helper()
	u, err := s.Systems.Accounts.Store.Add(s.TB.Context(), accounts.NewUser{Username: name, Role: role, Password: password})
	s.Must(err)
	return u
}

// audited returns the entries of the audit log, oldest first, such as "alice session user.edit bob {before} {after}".
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

// wantAudited fails unless the audit log has an entry with a prefix.
func wantAudited(s *apptest.App, prefix string) {
	s.Helper()
	for _, line := range audited(s) {
		if strings.HasPrefix(line, prefix) {
			return
		}
	}
	s.Errorf("audit log: got %q, want an entry that starts with %q", audited(s), prefix)
}

// wantNoSecrets fails if the audit log contains a password of the tests or one of secrets.
func wantNoSecrets(s *apptest.App, secrets ...string) {
	s.Helper()
	log := strings.Join(audited(s), "\n")
	for _, secret := range append(secrets, password, newPassword) {
		if secret == "" || strings.Contains(log, secret) {
			s.Errorf("audit log contains %q:\n%s", secret, log)
		}
	}
}

// wantError fails unless the page is a form with an error message at a field.
func wantError(t *testing.T, p apptest.Page, status int, id, text string) {
	t.Helper()
	apptest.WantStatus(t, p, status)
	apptest.WantText(t, p, "#"+id, text)
	if p.Find(`[aria-invalid="true"][aria-describedby~="`+id+`"]`).Length() == 0 && !strings.HasPrefix(id, "access") && !strings.HasPrefix(id, "scopes") {
		t.Errorf("no field is marked as invalid by #%s", id)
	}
}

// wantLogin fails unless a page redirects to the login page.
func wantLogin(t *testing.T, p apptest.Page, what string) {
	t.Helper()
	if to := p.Header.Get("Location"); p.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to, "/login") {
		t.Errorf("%s: got status %d, location %q", what, p.StatusCode, to)
	}
}

func form(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return v
}
