package accounts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/audit"
	"linkwatch/models/modelstest"
)

func TestAuditLog(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		alice := s.add("alice", accounts.Admin)
		secret := s.startSession(alice, "")
		_, token, err := s.AddToken(s.ctx(alice), alice, accounts.NewToken{Name: "n", Scopes: []string{"read"}, By: accounts.Admin})
		s.must(err)
		for range 3 {
			_, _, _, err := s.ByToken(t.Context(), token, "198.51.100.1")
			s.must(err)
			s.must(s.Flush(t.Context()))
			s.clock.Advance(10 * time.Minute)
		}
		for range 7 {
			s.Refused(models.Actor{Name: "mallory", Via: "password", Address: "198.51.100.9"}, "login.failed", audit.Subject{}, nil)
		}
		s.must(s.Flush(t.Context()))
		editor := accounts.Editor
		s.add("bob", accounts.Admin)
		_, err = s.Edit(s.ctx(alice), alice.ID, accounts.Edit{Role: &editor})
		s.must(err)
		_, err = s.Edit(s.ctx(alice), alice.ID, accounts.Edit{Role: &editor}) // changes nothing
		s.must(err)
		want := "user.add login token.add token.use login.failed x7 user.add user.edit"
		if got := strings.Join(s.actions(), " "); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
		edit := s.entries()[0]
		if edit.Before != `{"role":"admin"}` || edit.After != `{"role":"editor"}` || edit.Actor != "alice" || edit.ActorID != alice.ID || edit.Address != "203.0.113.7" ||
			edit.RequestID != "request-1" || edit.Via != "session" || edit.SubjectID != alice.ID || edit.SubjectKind != "user" || edit.SubjectName != "alice" {
			t.Errorf("entry: got %+v", edit)
		}
		for _, e := range s.entries() {
			if text := fmt.Sprint(e); strings.Contains(text, secret) || strings.Contains(text, token) {
				t.Errorf("entry contains a secret: %s", text)
			}
		}
		for _, c := range []struct {
			f    accounts.AuditFilter
			want int
		}{
			{accounts.AuditFilter{Actor: "alice"}, 4}, {accounts.AuditFilter{Action: "user.add"}, 2}, {accounts.AuditFilter{Action: "user."}, 3}, {accounts.AuditFilter{Action: "token."}, 2},
			{accounts.AuditFilter{SubjectID: alice.ID}, 3}, {accounts.AuditFilter{Address: "198.51.100.9"}, 1}, {accounts.AuditFilter{Since: s.Now()}, 3},
			{accounts.AuditFilter{Until: s.Now()}, 4}, {accounts.AuditFilter{Actor: "unknown"}, 0},
		} {
			l, err := s.Audit(t.Context(), c.f, models.Cursor{}, 50)
			if err != nil || len(l.Items) != c.want {
				t.Errorf("%+v: %d entries, want %d, %v", c.f, len(l.Items), c.want, err)
			}
		}
		var paged []string
		after := models.Cursor{}
		for {
			l, err := s.Audit(t.Context(), accounts.AuditFilter{}, after, 2)
			s.must(err)
			for _, e := range l.Items {
				paged = append(paged, e.Action)
			}
			if after = l.Next; !l.More() {
				break
			}
		}
		slices.Reverse(paged)
		if got := strings.Join(paged, " "); got != strings.Replace(want, " x7", "", 1) {
			t.Errorf("paged: got %s, want %s", got, want)
		}
		_, err = s.Audit(t.Context(), accounts.AuditFilter{Actor: strings.Repeat("x", 1000)}, models.Cursor{}, 50)
		wantCode(t, err, models.CodeInvalid)
		_, err = s.Audit(t.Context(), accounts.AuditFilter{}, models.Cursor{ID: "q_x"}, 50)
		wantCode(t, err, models.CodeInvalid)
	})
}

// The database rejects changes of audit entries.
func TestAuditEntriesAreImmutable(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		s.add("alice", accounts.Admin)
		err := s.db.Write(t.Context(), func(tx *gorm.DB) error { return tx.Exec("UPDATE audit_entries SET actor = 'mallory'").Error })
		if err == nil || !strings.Contains(err.Error(), "audit entries are not changed") {
			t.Errorf("update: got %v, want an error", err)
		}
		s.clock.Advance(30 * models.Day)
		if n, err := reap(s, s.ReapAudit); err != nil || n != 1 {
			t.Errorf("reaped %d entries, %v; want 1", n, err)
		}
	})
}

// Many failures from many addresses add a limited number of rows.
func TestFloodOfFailures(t *testing.T) {
	s := newStore(t, modelstest.New(t))
	for i := range 5000 {
		s.Refused(models.Actor{Name: fmt.Sprint("user", i), Address: fmt.Sprint("10.0.0.", i)}, "login.failed", audit.Subject{}, nil)
	}
	s.must(s.Flush(t.Context()))
	attempts := 0
	for _, e := range s.entries() {
		attempts += e.Attempts
	}
	if n := len(s.entries()); n > 201 || attempts != 5000 {
		t.Errorf("got %d entries of %d attempts, want at most 201 of 5000", n, attempts)
	}
	for range 10 { // more failures, for 50 seconds
		s.clock.Advance(5 * time.Second)
		for i := range 1000 {
			s.Refused(models.Actor{Name: fmt.Sprint("user", i), Address: fmt.Sprint("10.0.0.", i)}, "login.failed", audit.Subject{}, nil)
		}
		s.must(s.Flush(t.Context()))
	}
	if n := len(s.entries()); n > 201+10*6 {
		t.Errorf("got %d entries after 50 more seconds", n)
	}
}
