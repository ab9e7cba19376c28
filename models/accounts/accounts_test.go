package accounts_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/audit"
	"linkwatch/models/modelstest"
	"linkwatch/models/secret"
)

const goodPassword = "correct horse battery"

// store is a store with a clock of the test's own.
type store struct {
	*accounts.Store
	testing.TB
	db    *models.DB
	clock *modelstest.Clock
}

func newStore(t testing.TB, db *models.DB, change ...func(*accounts.Options)) *store {
	t.Helper()
	box, err := secret.FromText("a key of the test")
	if err != nil {
		t.Fatal(err)
	}
	o := accounts.Options{
		Seal: box.Seal, Open: box.Open, Sign: box.Sign,
		IdleTimeout: 24 * time.Hour, MaxAge: 72 * time.Hour, Retention: 30 * models.Day,
	}
	for _, c := range change {
		c(&o)
	}
	clock := modelstest.NewClock()
	return &store{accounts.NewStore(db, clock.Now, o), t, db, clock}
}

// ctx is a context whose actor is an account.
func (s *store) ctx(u accounts.User) context.Context {
	return models.WithActor(s.Context(), models.Actor{
		ID: u.ID, Name: u.Username, Role: string(u.Role), Via: "session", SeesAll: u.SeesAll(), Address: "203.0.113.7", Request: "request-1",
	})
}

// add adds an account without a password, which takes no hash.
func (s *store) add(name string, role accounts.Role) accounts.User {
	s.Helper()
	u, err := s.Add(s.ctx(accounts.User{Username: "root"}), accounts.New{Username: name, Role: role, Issuer: "https://id.example", Subject: name})
	s.must(err)
	return u
}

func (s *store) addWithPassword(name string, role accounts.Role) accounts.User {
	s.Helper()
	u, err := s.Add(s.ctx(accounts.User{Username: "root"}), accounts.New{Username: name, Role: role, Password: goodPassword})
	s.must(err)
	return u
}

func (s *store) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// begin signs an account in and returns the secret of the session.
func (s *store) begin(u accounts.User, old string) string {
	s.Helper()
	secret, err := s.Begin(s.ctx(u), u, accounts.MethodPassword, accounts.Client{Address: "203.0.113.7", Device: "Firefox on Linux"}, old)
	s.must(err)
	return secret
}

// opens reports whether a secret is that of a session.
func (s *store) opens(secret string) bool {
	s.Helper()
	_, ok, err := s.BySession(s.Context(), secret)
	s.must(err)
	return ok
}

func (s *store) entries() []audit.Entry {
	s.Helper()
	l, err := s.Audit(s.Context(), accounts.AuditFilter{}, models.Cursor{}, models.MaxLimit)
	s.must(err)
	return l.Items
}

// actions are the actions of the audit log, the oldest first, with how often each was tried.
func (s *store) actions() (all []string) {
	s.Helper()
	for _, e := range slices.Backward(s.entries()) {
		text := e.Action
		if e.Attempts > 1 {
			text = fmt.Sprintf("%s x%d", text, e.Attempts)
		}
		all = append(all, text)
	}
	return all
}

func wantCode(t testing.TB, err error, want models.Code) {
	t.Helper()
	if models.CodeOf(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func each(t *testing.T, test func(t *testing.T, s *store)) {
	t.Helper()
	modelstest.Each(t, func(t *testing.T, db *models.DB) { test(t, newStore(t, db)) })
}

func TestAddAccounts(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.must(s.Look(ctx))
		if s.InUse() {
			t.Error("in use without an account")
		}
		u, err := s.AddFirst(ctx, " Alice ", goodPassword)
		s.must(err)
		if u.Username != "alice" || u.Role != accounts.Admin || !u.HasPassword() || strings.Contains(u.PasswordHash, "correct") || !strings.HasPrefix(u.PasswordHash, "$argon2id$") {
			t.Errorf("%+v", u)
		}
		if !s.InUse() {
			t.Error("not in use with an account")
		}
		other := newStore(t, s.db)
		s.must(other.Look(ctx))
		if !other.InUse() {
			t.Error("another process does not see the account")
		}
		_, err = s.AddFirst(ctx, "second", goodPassword)
		wantCode(t, err, models.CodeConflict)
		for _, name := range []string{"alice", "ALICE"} {
			_, err = s.Add(ctx, accounts.New{Username: name, Role: accounts.Viewer, Issuer: "i", Subject: name})
			wantCode(t, err, models.CodeConflict)
		}
		for _, bad := range []accounts.New{
			{Username: "", Role: accounts.Viewer, Password: goodPassword},
			{Username: "-a", Role: accounts.Viewer, Password: goodPassword},
			{Username: "a b", Role: accounts.Viewer, Password: goodPassword},
			{Username: "ünal", Role: accounts.Viewer, Password: goodPassword},
			{Username: strings.Repeat("a", 65), Role: accounts.Viewer, Password: goodPassword},
			{Username: "system", Role: accounts.Viewer, Password: goodPassword},
			{Username: "bob", Role: "root", Password: goodPassword},
			{Username: "bob", Role: "", Password: goodPassword},
			{Username: "bob", Role: accounts.Viewer, Password: ""},
			{Username: "bob", Role: accounts.Viewer, Password: "short"},
			{Username: "bobbobbob", Role: accounts.Viewer, Password: "BobBobBob"},
			{Username: "bob", Role: accounts.Viewer, Password: "Password1"},
			{Username: "bob", Role: accounts.Viewer, Password: "aaaaaaaaaaaa"},
			{Username: "bob", Role: accounts.Viewer, Password: strings.Repeat("long ", 60)},
			{Username: "bob", Role: accounts.Viewer, Password: "with\x00nul and more"},
		} {
			_, err := s.Add(ctx, bad)
			wantCode(t, err, models.CodeInvalid)
			if err != nil && bad.Password != "" && strings.Contains(err.Error(), bad.Password) {
				t.Errorf("the error repeats the password: %v", err)
			}
		}
		if _, err := s.ByName(ctx, "Alice"); err != nil {
			t.Error(err)
		}
		_, err = s.ByName(ctx, "nobody")
		wantCode(t, err, models.CodeNotFound)
		for _, id := range []string{"", "u_1", u.ID[:10], "l" + u.ID[1:], strings.Repeat("x", 5000)} {
			_, err = s.Get(ctx, id)
			wantCode(t, err, models.CodeNotFound)
		}
	})
}

// Of processes that add the first account at the same time, one does.
func TestOneFirstAccount(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		var all sync.WaitGroup
		errs := make([]error, 4)
		for i := range errs {
			all.Go(func() { _, errs[i] = s.AddFirst(t.Context(), fmt.Sprintf("user%d", i), goodPassword) })
		}
		all.Wait()
		added := 0
		for _, err := range errs {
			if err == nil {
				added++
			} else {
				wantCode(t, err, models.CodeConflict)
			}
		}
		if added != 1 {
			t.Errorf("%d were added", added)
		}
	})
}

func TestVerify(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		alice := s.addWithPassword("alice", accounts.Admin)
		bob := s.add("bob", accounts.Viewer) // without a password
		u, err := s.Verify(ctx, accounts.Login{Username: " ALICE", Password: goodPassword})
		if err != nil || u.ID != alice.ID {
			t.Errorf("%v %v", u, err)
		}
		wrong := []accounts.Login{
			{Username: "alice", Password: goodPassword + " "}, {Username: "alice"}, {Username: "bob"}, {Username: "bob", Password: goodPassword},
			{Username: "nobody", Password: goodPassword}, {}, {Username: "alice", Password: strings.Repeat("x", 5000)},
			{Pending: "x"}, {Pending: "u_1.0.x"}, {Pending: alice.ID + ".zzzzzz.x"},
		}
		for _, l := range wrong {
			if _, err := s.Verify(ctx, l); !errors.Is(err, accounts.ErrWrongLogin) && models.CodeOf(err) != models.CodeUnavailable {
				t.Errorf("%+v: %v", l, err)
			}
		}
		_ = bob
	})
}

// The password of ADMIN_PASSWORD signs in the account admin, which it adds, without a hash.
func TestAdminPassword(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		s := newStore(t, db, func(o *accounts.Options) { o.AdminPassword = "of the settings" })
		ctx := t.Context()
		u, err := s.Verify(ctx, accounts.Login{Username: "Admin", Password: "of the settings"})
		s.must(err)
		if u.Username != accounts.AdminName || u.Role != accounts.Admin || u.HasPassword() {
			t.Errorf("%+v", u)
		}
		again, err := s.Verify(ctx, accounts.Login{Username: "admin", Password: "of the settings"})
		if err != nil || again.ID != u.ID {
			t.Errorf("%v %v", again, err)
		}
		for _, l := range []accounts.Login{{Username: "admin"}, {Username: "admin", Password: "of the setting"}, {Username: "other", Password: "of the settings"}} {
			if _, err := s.Verify(ctx, l); !errors.Is(err, accounts.ErrWrongLogin) {
				t.Errorf("%+v: %v", l, err)
			}
		}
		s.add("second", accounts.Admin)
		_, err = s.Edit(ctx, u.ID, accounts.Edit{Disabled: new(true)})
		s.must(err)
		if _, err := s.Verify(ctx, accounts.Login{Username: "admin", Password: "of the settings"}); !errors.Is(err, accounts.ErrWrongLogin) {
			t.Errorf("disabled: %v", err)
		}
		s.must(s.Delete(ctx, u.ID))
		if _, err := s.Verify(ctx, accounts.Login{Username: "admin", Password: "of the settings"}); !errors.Is(err, accounts.ErrWrongLogin) {
			t.Errorf("deleted: %v", err)
		}
	})
	s := newStore(t, modelstest.New(t))
	if _, err := s.Verify(t.Context(), accounts.Login{Username: "admin", Password: ""}); !errors.Is(err, accounts.ErrWrongLogin) {
		t.Errorf("without a setting: %v", err)
	}
}

func TestSessions(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		alice, bob := s.add("alice", accounts.Admin), s.add("bob", accounts.Editor)
		first := s.begin(alice, "")
		o, ok, err := s.BySession(t.Context(), first)
		if err != nil || !ok || o.Username != "alice" || o.Role != accounts.Admin || o.Session.Device != "Firefox on Linux" || o.Session.Address != "203.0.113.7" {
			t.Fatalf("%+v %v %v", o, ok, err)
		}
		for _, wrong := range []string{"", "x", first[:len(first)-1], first + "x", strings.ToLower(first), o.Session.ID, string(o.Session.SecretHash)} {
			if s.opens(wrong) {
				t.Errorf("%q opens a session", wrong)
			}
		}
		second := s.begin(alice, first) // signing in again in the same browser
		if first == second || s.opens(first) || !s.opens(second) {
			t.Error("the session of the browser was not replaced")
		}
		other := s.begin(bob, "")
		third := s.begin(alice, "")
		list, err := s.Sessions(t.Context(), alice)
		if err != nil || len(list) != 2 {
			t.Fatalf("%d sessions, %v", len(list), err)
		}
		bobs, err := s.Sessions(t.Context(), bob)
		s.must(err)
		wantCode(t, s.EndOne(s.ctx(alice), alice, bobs[0].ID), models.CodeNotFound)
		s.must(s.EndOne(s.ctx(alice), alice, list[0].ID))
		if s.opens(second) == s.opens(third) {
			t.Error("ended the wrong session")
		}
		s.must(s.EndAll(s.ctx(alice), alice))
		if s.opens(second) || s.opens(third) || !s.opens(other) {
			t.Error("signing out everywhere ends the sessions of the account, and no others")
		}
		ctx := models.WithActor(t.Context(), models.Actor{ID: bob.ID, Name: "bob", Of: bobs[0].ID})
		s.must(s.End(ctx))
		if s.opens(other) {
			t.Error("signed out, but open")
		}
	})
}

func TestSessionsEnd(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		u := s.add("alice", accounts.Admin)
		s.add("root", accounts.Admin)
		secret := s.begin(u, "")
		for range 2 { // used each 23 hours
			s.clock.Advance(23 * time.Hour)
			if !s.opens(secret) {
				t.Fatal("a session that is used has ended")
			}
			s.must(s.Flush(t.Context()))
		}
		s.clock.Advance(24 * time.Hour)
		if s.opens(secret) {
			t.Error("a session that was idle for a day is open")
		}
		secret = s.begin(u, "")
		for range 3 {
			s.clock.Advance(23 * time.Hour)
			if !s.opens(secret) {
				t.Fatal("ended early")
			}
			s.must(s.Flush(t.Context()))
		}
		s.clock.Advance(3 * time.Hour)
		if s.opens(secret) {
			t.Error("a session of three days is open, since it is used")
		}
		if n, err := reap(s, s.ReapSessions); err != nil || n != 2 {
			t.Errorf("the reaper deleted %d sessions, %v", n, err)
		}
		secret = s.begin(u, "")
		_, err := s.Edit(t.Context(), u.ID, accounts.Edit{Disabled: new(true)})
		s.must(err)
		if s.opens(secret) {
			t.Error("the session of a disabled account is open")
		}
		if _, err := s.Begin(s.ctx(u), u, accounts.MethodPassword, accounts.Client{}, ""); !errors.Is(err, accounts.ErrWrongLogin) {
			t.Errorf("a disabled account signs in: %v", err)
		}
		_, err = s.Edit(t.Context(), u.ID, accounts.Edit{Disabled: new(false)})
		s.must(err)
		if s.opens(secret) {
			t.Error("enabling opens old sessions")
		}
		secret = s.begin(u, "")
		s.must(s.Delete(t.Context(), u.ID))
		if s.opens(secret) {
			t.Error("the session of a deleted account is open")
		}
	})
}

// A new password ends all sessions but the one that changed it.
func TestChangePassword(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		u := s.addWithPassword("alice", accounts.Admin)
		here, there := s.begin(u, ""), s.begin(u, "")
		o, _, err := s.BySession(t.Context(), here)
		s.must(err)
		ctx := models.WithActor(t.Context(), models.Actor{ID: u.ID, Name: "alice", Of: o.Session.ID})
		wantCode(t, s.ChangePassword(ctx, u, "wrong password", "another good one"), models.CodeInvalid)
		wantCode(t, s.ChangePassword(ctx, u, goodPassword, "password1"), models.CodeInvalid)
		s.must(s.ChangePassword(ctx, u, goodPassword, "another good one"))
		if !s.opens(here) || s.opens(there) {
			t.Error("other sessions stay open, or the own one has ended")
		}
		if _, err := s.Verify(t.Context(), accounts.Login{Username: "alice", Password: goodPassword}); !errors.Is(err, accounts.ErrWrongLogin) {
			t.Errorf("the old password: %v", err)
		}
	})
}

func TestLastAdmin(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		alice := s.add("alice", accounts.Admin)
		bob := s.add("bob", accounts.Editor)
		viewer := accounts.Viewer
		_, err := s.Edit(ctx, alice.ID, accounts.Edit{Role: &viewer})
		wantCode(t, err, models.CodeConflict)
		_, err = s.Edit(ctx, alice.ID, accounts.Edit{Disabled: new(true)})
		wantCode(t, err, models.CodeConflict)
		wantCode(t, s.Delete(ctx, alice.ID), models.CodeConflict)
		admin := accounts.Admin
		_, err = s.Edit(ctx, bob.ID, accounts.Edit{Role: &admin})
		s.must(err)
		s.must(s.Delete(ctx, alice.ID))
		wantCode(t, s.Delete(ctx, bob.ID), models.CodeConflict)
		_, err = s.Get(ctx, alice.ID)
		wantCode(t, err, models.CodeNotFound)
		_, err = s.Add(ctx, accounts.New{Username: "alice", Role: accounts.Viewer, Issuer: "i", Subject: "x"})
		wantCode(t, err, models.CodeConflict) // what alice owns must not get to another
		_, err = s.Restore(ctx, alice.ID)
		s.must(err)
		_, err = s.Restore(ctx, alice.ID)
		wantCode(t, err, models.CodeNotFound)
		s.must(s.Delete(ctx, alice.ID))
		s.clock.Advance(accounts.KeepDeleted)
		if n, err := reap(s, s.ReapUsers); err != nil || n != 1 {
			t.Errorf("the reaper forgot %d accounts, %v", n, err)
		}
		if n, err := reap(s, s.ReapUsers); err != nil || n != 0 {
			t.Errorf("the reaper forgot %d accounts again, %v", n, err)
		}
		_, err = s.Restore(ctx, alice.ID)
		wantCode(t, err, models.CodeNotFound)
	})
}

// Two admins who remove each other at the same time: one stays.
func TestAdminsRemoveEachOther(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		left := s.add("admin0", accounts.Admin)
		for i := range 5 {
			both := []accounts.User{left, s.add(fmt.Sprintf("admin%d", i+1), accounts.Admin)}
			var all sync.WaitGroup
			errs := make([]error, 2)
			for j, u := range both {
				all.Go(func() { errs[j] = s.Delete(t.Context(), u.ID) })
			}
			all.Wait()
			if (errs[0] == nil) == (errs[1] == nil) {
				t.Fatalf("%v, %v", errs[0], errs[1])
			}
			if left = both[0]; errs[0] == nil {
				left = both[1]
			}
		}
	})
}

func TestTokens(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		alice, bob := s.add("alice", accounts.Admin), s.add("bob", accounts.Editor)
		tok, secret, err := s.AddToken(s.ctx(alice), alice, accounts.NewToken{Name: " Backup ", Scopes: []string{"links:write", "read", "read"}, ExpiresAt: s.Now().Add(time.Hour), By: accounts.Admin})
		s.must(err)
		if tok.Name != "Backup" || strings.Join(tok.Scopes, " ") != "links:write read" || !strings.HasPrefix(secret, accounts.TokenPrefix) {
			t.Errorf("%+v", tok)
		}
		o, ok, expired, err := s.ByToken(ctx, secret, "203.0.113.7")
		if err != nil || !ok || expired || o.Username != "alice" || o.Token.ID != tok.ID || strings.Join(o.Token.Scopes, " ") != "links:write read" {
			t.Fatalf("%+v %v %v %v", o, ok, expired, err)
		}
		for _, wrong := range []string{"", "lw_", secret[3:], secret + "x", secret[:len(secret)-1], "lw_" + strings.Repeat("A", 5000), tok.ID} {
			if _, ok, _, err := s.ByToken(ctx, wrong, ""); ok || err != nil {
				t.Errorf("%.40q opens: %v", wrong, err)
			}
		}
		for _, bad := range []accounts.NewToken{
			{Scopes: []string{"read"}, By: accounts.Admin}, {Name: "n", By: accounts.Admin}, {Name: "n", Scopes: []string{"all"}, By: accounts.Admin},
			{Name: "n", Scopes: []string{"admin:read"}, By: accounts.Admin}, {Name: "n", Scopes: []string{"links"}, By: accounts.Admin},
			{Name: strings.Repeat("n", 101), Scopes: []string{"read"}, By: accounts.Admin}, {Name: "n", Scopes: slices.Repeat([]string{"read"}, 21), By: accounts.Admin},
			{Name: "n", Scopes: []string{"read"}, ExpiresAt: s.Now(), By: accounts.Admin},
			{Name: "n", Scopes: []string{"admin"}, By: accounts.Editor}, {Name: "n", Scopes: []string{"links:write"}, By: accounts.Viewer},
		} {
			_, _, err := s.AddToken(s.ctx(alice), alice, bad)
			wantCode(t, err, models.CodeInvalid)
		}
		wantCode(t, s.Revoke(s.ctx(bob), &bob, tok.ID), models.CodeNotFound)
		l, err := s.Tokens(ctx, &bob, models.Cursor{}, 10)
		if err != nil || len(l.Items) != 0 {
			t.Errorf("bob sees %d tokens, %v", len(l.Items), err)
		}
		s.must(s.Flush(ctx))
		l, err = s.Tokens(ctx, nil, models.Cursor{}, 10)
		if err != nil || len(l.Items) != 1 || l.Items[0].Username != "alice" || !l.Items[0].LastUsedAt.Equal(s.Now().Time) {
			t.Errorf("%+v %v", l.Items, err)
		}
		s.clock.Advance(time.Hour)
		if _, ok, expired, err := s.ByToken(ctx, secret, ""); ok || !expired || err != nil {
			t.Errorf("expired: %v %v %v", ok, expired, err)
		}
		_, forever, err := s.AddToken(s.ctx(bob), bob, accounts.NewToken{Name: "n", Scopes: []string{"read"}, By: accounts.Editor})
		s.must(err)
		_, err = s.Edit(ctx, bob.ID, accounts.Edit{Disabled: new(true)})
		s.must(err)
		if _, ok, _, err := s.ByToken(ctx, forever, ""); ok || err != nil {
			t.Errorf("the token of a disabled account: %v %v", ok, err)
		}
		_, err = s.Edit(ctx, bob.ID, accounts.Edit{Disabled: new(false)})
		s.must(err)
		if _, ok, _, err := s.ByToken(ctx, forever, ""); !ok || err != nil {
			t.Errorf("the token of an account that is enabled again: %v %v", ok, err)
		}
		s.must(s.Delete(ctx, bob.ID))
		_, err = s.Restore(ctx, bob.ID)
		s.must(err)
		if _, ok, _, err := s.ByToken(ctx, forever, ""); ok || err != nil {
			t.Errorf("the token of an account that was deleted: %v %v", ok, err)
		}
		s.must(s.Revoke(s.ctx(alice), &alice, tok.ID))
		wantCode(t, s.Revoke(s.ctx(alice), &alice, tok.ID), models.CodeNotFound)
	})
}

func TestScopes(t *testing.T) {
	for _, c := range []struct {
		scopes string
		want   map[string]accounts.Role
	}{
		{"read", map[string]accounts.Role{"": accounts.Viewer, "links": accounts.Viewer}},
		{"write", map[string]accounts.Role{"": accounts.Editor, "links": accounts.Editor}},
		{"admin", map[string]accounts.Role{"": accounts.Admin, "crawl": accounts.Admin}},
		{"links:read", map[string]accounts.Role{"": "", "links": accounts.Viewer, "targets": ""}},
		{"links:write read", map[string]accounts.Role{"": accounts.Viewer, "links": accounts.Editor, "targets": accounts.Viewer}},
		{"", map[string]accounts.Role{"": "", "links": ""}},
	} {
		for system, want := range c.want {
			if got := accounts.Scopes(strings.Fields(c.scopes)).Allow(system); got != want {
				t.Errorf("%q in %q: %q, want %q", c.scopes, system, got, want)
			}
		}
	}
}

func TestTwoFactor(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		u := s.addWithPassword("alice", accounts.Admin)
		login := accounts.Login{Username: "alice", Password: goodPassword}
		setup, err := s.PrepareTOTP(ctx, u)
		s.must(err)
		if !strings.HasPrefix(setup.URL, "otpauth://totp/Linkwatch:alice?") || len(setup.Secret) < 32 {
			t.Errorf("%+v", setup)
		}
		if _, err := s.Verify(ctx, login); err != nil { // not confirmed yet
			t.Errorf("before the confirmation: %v", err)
		}
		_, err = s.ConfirmTOTP(ctx, u, "000000")
		wantCode(t, err, models.CodeInvalid)
		code := s.code(setup)
		codes, err := s.ConfirmTOTP(s.ctx(u), u, code)
		if err != nil || len(codes) != 10 {
			t.Fatalf("%v %v", codes, err)
		}
		_, err = s.PrepareTOTP(ctx, u)
		wantCode(t, err, models.CodeConflict)

		_, err = s.Verify(ctx, login)
		needed, ok := errors.AsType[*accounts.CodeNeeded](err)
		if !ok || needed.Wrong || needed.Pending == "" {
			t.Fatalf("%v", err)
		}
		if s.PendingName(ctx, needed.Pending) != "alice" || s.PendingName(ctx, needed.Pending+"x") != "" {
			t.Error("the pending login is another one")
		}
		with := func(code string) error {
			_, err := s.Verify(ctx, accounts.Login{Pending: needed.Pending, Code: code})
			return err
		}
		wrong := func(code string) {
			t.Helper()
			if n, ok := errors.AsType[*accounts.CodeNeeded](with(code)); !ok || !n.Wrong {
				t.Errorf("the code %q is not refused", code)
			}
		}
		wrong(code) // it was used to confirm
		wrong("000000")
		wrong("AAAA-AAAA-AAAA-AAAA")
		s.clock.Advance(30 * time.Second)
		s.must(with(s.code(setup)[:3] + " " + s.code(setup)[3:]))
		wrong(s.code(setup)) // no code is used twice
		s.must(with(strings.ToLower(codes[3])))
		wrong(codes[3])
		if n, err := s.RecoveryCodesLeft(ctx, u); err != nil || n != 9 {
			t.Errorf("%d codes are left, %v", n, err)
		}
		s.clock.Advance(5 * time.Minute)
		if err := with(codes[4]); !errors.Is(err, accounts.ErrWrongLogin) {
			t.Errorf("a pending login of five minutes: %v", err)
		}
		wantCode(t, s.RemoveTOTP(s.ctx(u), u, "wrong password"), models.CodeInvalid)
		s.must(s.ClearTOTP(s.ctx(u), u.ID))
		if _, err := s.Verify(ctx, login); err != nil && models.CodeOf(err) != models.CodeUnavailable {
			t.Errorf("after it was turned off: %v", err)
		}
		for _, e := range s.entries() {
			for _, secret := range append(codes, setup.Secret, code, goodPassword) {
				if strings.Contains(fmt.Sprint(e), secret) {
					t.Errorf("the audit log has a secret: %+v", e)
				}
			}
		}
	})
}

func (s *store) code(setup accounts.Setup) string {
	s.Helper()
	code, err := totp.GenerateCode(setup.Secret, s.Now().Time)
	s.must(err)
	return code
}

// A pending login ends with the password that it stands for.
func TestPendingEndsWithThePassword(t *testing.T) {
	s := newStore(t, modelstest.New(t))
	ctx := t.Context()
	u := s.addWithPassword("alice", accounts.Admin)
	setup, err := s.PrepareTOTP(ctx, u)
	s.must(err)
	codes, err := s.ConfirmTOTP(ctx, u, s.code(setup))
	s.must(err)
	_, err = s.Verify(ctx, accounts.Login{Username: "alice", Password: goodPassword})
	needed, _ := errors.AsType[*accounts.CodeNeeded](err)
	_, err = s.Edit(ctx, u.ID, accounts.Edit{Password: new("another good one")})
	s.must(err)
	if _, err := s.Verify(ctx, accounts.Login{Pending: needed.Pending, Code: codes[0]}); !errors.Is(err, accounts.ErrWrongLogin) {
		t.Errorf("%v", err)
	}
}

func TestAuditLog(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		alice := s.add("alice", accounts.Admin)
		secret := s.begin(alice, "")
		_, token, err := s.AddToken(s.ctx(alice), alice, accounts.NewToken{Name: "n", Scopes: []string{"read"}, By: accounts.Admin})
		s.must(err)
		for range 3 {
			_, _, _, err := s.ByToken(t.Context(), token, "198.51.100.1")
			s.must(err)
			s.must(s.Flush(t.Context()))
			s.clock.Advance(10 * time.Minute)
		}
		for range 7 {
			s.Refused(models.Actor{Name: "mallory", Via: "password", Address: "198.51.100.9"}, "login.failed", audit.Subject{})
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
			t.Errorf("%+v", edit)
		}
		for _, e := range s.entries() {
			if text := fmt.Sprint(e); strings.Contains(text, secret) || strings.Contains(text, token) {
				t.Errorf("a secret: %s", text)
			}
		}
		for _, c := range []struct {
			f    accounts.AuditFilter
			want int
		}{
			{accounts.AuditFilter{Actor: "alice"}, 4}, {accounts.AuditFilter{Action: "user.add"}, 2}, {accounts.AuditFilter{Action: "user."}, 3}, {accounts.AuditFilter{Action: "token."}, 2},
			{accounts.AuditFilter{Subject: alice.ID}, 3}, {accounts.AuditFilter{Address: "198.51.100.9"}, 1}, {accounts.AuditFilter{Since: s.Now()}, 3},
			{accounts.AuditFilter{Until: s.Now()}, 4}, {accounts.AuditFilter{Actor: "nobody"}, 0},
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
			t.Errorf("by pages: %s", got)
		}
		_, err = s.Audit(t.Context(), accounts.AuditFilter{Actor: strings.Repeat("x", 1000)}, models.Cursor{}, 50)
		wantCode(t, err, models.CodeInvalid)
		_, err = s.Audit(t.Context(), accounts.AuditFilter{}, models.Cursor{ID: "q_x"}, 50)
		wantCode(t, err, models.CodeInvalid)
	})
}

// The audit log is append-only: the database refuses to change an entry.
func TestAuditEntriesStay(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		s.add("alice", accounts.Admin)
		err := s.db.Write(t.Context(), func(tx *gormDB) error { return tx.Exec("UPDATE audit_entries SET actor = 'mallory'").Error })
		if err == nil || !strings.Contains(err.Error(), "audit entries are not changed") {
			t.Errorf("%v", err)
		}
		s.clock.Advance(30 * models.Day)
		if n, err := reap(s, s.ReapAudit); err != nil || n != 1 {
			t.Errorf("the reaper deleted %d entries, %v", n, err)
		}
	})
}

// A flood of failures from many addresses takes a bounded number of rows.
func TestFloodOfFailures(t *testing.T) {
	s := newStore(t, modelstest.New(t))
	for i := range 5000 {
		s.Refused(models.Actor{Name: fmt.Sprint("user", i), Address: fmt.Sprint("10.0.0.", i)}, "login.failed", audit.Subject{})
	}
	s.must(s.Flush(t.Context()))
	all := 0
	for _, e := range s.entries() {
		all += e.Attempts
	}
	if n := len(s.entries()); n > 201 || all != 5000 {
		t.Errorf("%d entries of %d attempts", n, all)
	}
	for range 10 { // it goes on
		s.clock.Advance(5 * time.Second)
		for i := range 1000 {
			s.Refused(models.Actor{Name: fmt.Sprint("user", i), Address: fmt.Sprint("10.0.0.", i)}, "login.failed", audit.Subject{})
		}
		s.must(s.Flush(t.Context()))
	}
	if n := len(s.entries()); n > 201+10*6 {
		t.Errorf("%d entries after 50 seconds more", n)
	}
}

// A user of an identity provider chooses a username, so none gets that which ADMIN_PASSWORD signs in.
func TestAdminNameIsReserved(t *testing.T) {
	s := newStore(t, modelstest.New(t), func(o *accounts.Options) { o.AdminPassword = "of the settings" })
	for _, issuer := range []string{"https://id.example", accounts.IssuerProxy} {
		_, err := s.Add(t.Context(), accounts.New{Username: "Admin", Role: accounts.Viewer, Issuer: issuer, Subject: "1"})
		if models.CodeOf(err) != models.CodeConflict {
			t.Errorf("%s: %v", issuer, err)
		}
	}
	if u, err := s.Verify(t.Context(), accounts.Login{Username: "admin", Password: "of the settings"}); err != nil || u.Role != accounts.Admin {
		t.Errorf("%+v %v", u, err)
	}
	s = newStore(t, modelstest.New(t))
	if _, err := s.Add(t.Context(), accounts.New{Username: "admin", Role: accounts.Admin, Issuer: accounts.IssuerProxy, Subject: "admin"}); err != nil {
		t.Errorf("by a proxy, without ADMIN_PASSWORD: %v", err)
	}
	s = newStore(t, modelstest.New(t))
	if _, err := s.Add(t.Context(), accounts.New{Username: "admin", Role: accounts.Admin}); models.CodeOf(err) != models.CodeInvalid {
		t.Errorf("without any password: %v", err)
	}
}

// What is no text is no username and no filter: it is not asked for in the database.
func TestNamesThatAreNoText(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		s.add("alice", accounts.Admin)
		for _, name := range []string{"\x00", "alice\x00", "\xff", ""} {
			if _, err := s.Verify(t.Context(), accounts.Login{Username: name, Password: "wrong password"}); !errors.Is(err, accounts.ErrWrongLogin) {
				t.Errorf("%q: %v", name, err)
			}
		}
		for _, f := range []accounts.AuditFilter{{Actor: "\x00"}, {Action: "\xff"}, {Subject: "\x00"}, {Address: "\xff"}} {
			if _, err := s.Audit(t.Context(), f, models.Cursor{}, 10); models.CodeOf(err) != models.CodeInvalid {
				t.Errorf("%+v: %v", f, err)
			}
		}
	})
}

// A login that was verified before the password changed begins no session after it.
func TestLoginWhileThePasswordChanges(t *testing.T) {
	s := newStore(t, modelstest.New(t))
	s.add("root", accounts.Admin)
	u, err := s.Add(t.Context(), accounts.New{Username: "alice", Role: accounts.Viewer, Password: goodPassword})
	s.must(err)
	verified, err := s.Verify(t.Context(), accounts.Login{Username: "alice", Password: goodPassword})
	s.must(err)
	password := "another horse battery"
	_, err = s.Edit(t.Context(), u.ID, accounts.Edit{Password: &password})
	s.must(err)
	if _, err := s.Begin(t.Context(), verified, accounts.MethodPassword, accounts.Client{}, ""); !errors.Is(err, accounts.ErrWrongLogin) {
		t.Errorf("%v", err)
	}
}
