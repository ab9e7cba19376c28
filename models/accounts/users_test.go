package accounts_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/modelstest"
)

func TestAddAccounts(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		s.must(s.RefreshInUse(ctx))
		if s.InUse() {
			t.Error("InUse is true without accounts")
		}
		u, err := s.AddFirst(ctx, " Alice ", goodPassword)
		s.must(err)
		if u.Username != "alice" || u.Role != accounts.Admin || !u.HasPassword() || strings.Contains(u.PasswordHash, "correct") || !strings.HasPrefix(u.PasswordHash, "$argon2id$") {
			t.Errorf("got %+v", u)
		}
		if !s.InUse() {
			t.Error("InUse is false with an account")
		}
		other := newStore(t, s.db)
		s.must(other.RefreshInUse(ctx))
		if !other.InUse() {
			t.Error("another process did not detect the account")
		}
		_, err = s.AddFirst(ctx, "second", goodPassword)
		wantCode(t, err, models.CodeConflict)
		for _, name := range []string{"alice", "ALICE"} {
			_, err = s.Add(ctx, accounts.NewUser{Username: name, Role: accounts.Viewer, Issuer: "i", Subject: name})
			wantCode(t, err, models.CodeConflict)
		}
		for _, bad := range []accounts.NewUser{
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
				t.Errorf("the error contains the password: %v", err)
			}
		}
		if _, err := s.ByName(ctx, "Alice"); err != nil {
			t.Error(err)
		}
		_, err = s.ByName(ctx, "unknown")
		wantCode(t, err, models.CodeNotFound)
		for _, id := range []string{"", "u_1", u.ID[:10], "l" + u.ID[1:], strings.Repeat("x", 5000)} {
			_, err = s.Get(ctx, id)
			wantCode(t, err, models.CodeNotFound)
		}
	})
}

// If several processes add the first account at the same time, only one succeeds.
func TestConcurrentFirstAccounts(t *testing.T) {
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
			t.Errorf("got %d accounts, want 1", added)
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
		_, err = s.Add(ctx, accounts.NewUser{Username: "alice", Role: accounts.Viewer, Issuer: "i", Subject: "x"})
		wantCode(t, err, models.CodeConflict) // another user must not get the items of alice
		_, err = s.Restore(ctx, alice.ID)
		s.must(err)
		_, err = s.Restore(ctx, alice.ID)
		wantCode(t, err, models.CodeNotFound)
		s.must(s.Delete(ctx, alice.ID))
		s.clock.Advance(accounts.KeepDeleted)
		if n, err := reap(s, s.ReapUsers); err != nil || n != 1 {
			t.Errorf("reaped %d accounts, %v; want 1", n, err)
		}
		if n, err := reap(s, s.ReapUsers); err != nil || n != 0 {
			t.Errorf("reaped %d accounts again, %v; want 0", n, err)
		}
	})
}

// A user of an identity provider or a proxy whose account was deleted is refused until an admin restores it, also after
// the reaper has removed its secrets. The subject is then only stored as a hash.
func TestDeletedIdentitiesStayRefused(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		const issuer = "https://id.example"
		s.add("root", accounts.Admin)
		ann, bob := s.add("ann", accounts.Editor), s.add("bob", accounts.Viewer)
		carol := s.addWithPassword("carol", accounts.Viewer)
		dave, err := s.Add(ctx, accounts.NewUser{Username: "dave", Role: accounts.Viewer, Issuer: accounts.IssuerProxy, Subject: "dave"})
		s.must(err)
		for _, u := range []accounts.User{ann, bob, carol, dave} {
			s.must(s.Delete(ctx, u.ID))
		}
		s.clock.Advance(accounts.KeepDeleted)
		for _, want := range []int64{4, 0} {
			if n, err := reap(s, s.ReapUsers); err != nil || n != want {
				t.Errorf("reaped %d accounts, %v; want %d", n, err, want)
			}
		}
		for _, u := range []accounts.User{ann, bob} {
			found, err := s.BySubject(ctx, issuer, u.Username)
			if err != nil || found.ID != u.ID || found.DeletedAt.IsZero() || found.OIDCSubject != "" {
				t.Errorf("%s: got %+v, %v, want the deleted account without its subject", u.Username, found, err)
			}
		}
		_, err = s.BySubject(ctx, "https://other.example", "ann")
		wantCode(t, err, models.CodeNotFound)
		_, err = s.BySubject(ctx, issuer, "")
		wantCode(t, err, models.CodeNotFound)
		l, err := s.Deleted(ctx, models.Cursor{}, 3)
		s.must(err)
		if len(l.Items) != 3 || !l.More() || l.Items[0].Username != "ann" {
			t.Errorf("deleted accounts: got %+v", l)
		}
		for range 2 { // a restored account can be deleted again
			for _, u := range []accounts.User{ann, carol} {
				restored, err := s.Restore(s.ctx(accounts.User{Username: "root"}), u.ID)
				if err != nil || !restored.DeletedAt.IsZero() || restored.HasPassword() || restored.Role != u.Role {
					t.Errorf("%s: got %+v, %v", u.Username, restored, err)
				}
			}
			if u, err := s.BySubject(ctx, issuer, "ann"); err != nil || !u.DeletedAt.IsZero() {
				t.Errorf("restored: got %+v, %v", u, err)
			}
			if !slices.Contains(s.actions(), "user.restore") {
				t.Errorf("the audit log has no restore: %q", s.actions())
			}
			s.must(s.Delete(ctx, ann.ID))
			s.must(s.Delete(ctx, carol.ID))
			s.clock.Advance(accounts.KeepDeleted)
			if _, err := reap(s, s.ReapUsers); err != nil {
				t.Error(err)
			}
		}
	})
}

// A password cannot be restored a day after the deletion, even if the reaper has not run.
func TestRestoreWithoutPassword(t *testing.T) {
	s := newStore(t, modelstest.New(t))
	s.add("root", accounts.Admin)
	u := s.addWithPassword("carol", accounts.Viewer)
	s.must(s.Delete(t.Context(), u.ID))
	s.clock.Advance(accounts.KeepDeleted)
	u, err := s.Restore(t.Context(), u.ID)
	if err != nil || u.HasPassword() {
		t.Errorf("got %+v, %v, want no password", u, err)
	}
}

// A login at an identity provider comes back once, on all instances, also if it comes back several times at once.
func TestLoginIsUsedOnce(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		other := newStore(t, s.db)
		expires := s.Now().Add(10 * time.Minute).Time
		for state := range 3 {
			var all sync.WaitGroup
			var used atomic.Int32
			for _, on := range []*store{s, other, s, other} {
				all.Go(func() {
					ok, err := on.UseLogin(t.Context(), fmt.Sprint(state), expires)
					if err != nil {
						t.Error(err)
					}
					if ok {
						used.Add(1)
					}
				})
			}
			all.Wait()
			if used.Load() != 1 {
				t.Errorf("used %d times, want once", used.Load())
			}
		}
		s.clock.Advance(10 * time.Minute) // the clock of another instance may be later
		if n, err := reap(s, s.ReapUsedLogins); err != nil || n != 0 {
			t.Errorf("reaped %d, %v, want 0", n, err)
		}
		s.clock.Advance(time.Hour)
		if n, err := reap(s, s.ReapUsedLogins); err != nil || n != 3 {
			t.Errorf("reaped %d, %v, want 3", n, err)
		}
	})
}

// A new password can also revoke the tokens of the account, and only those.
func TestPasswordRevokesTokens(t *testing.T) {
	s := newStore(t, modelstest.New(t))
	root, carol := s.add("root", accounts.Admin), s.addWithPassword("carol", accounts.Viewer)
	secrets := map[string]string{}
	for _, u := range []accounts.User{root, carol} {
		_, secret, err := s.AddToken(t.Context(), u, accounts.NewToken{Name: "n", Scopes: []string{"read"}})
		s.must(err)
		secrets[u.Username] = secret
	}
	works := func(name string) bool {
		_, ok, _, err := s.ByToken(t.Context(), secrets[name], "")
		s.must(err)
		return ok
	}
	for _, revoke := range []bool{false, true} {
		_, err := s.Edit(t.Context(), carol.ID, accounts.Edit{Password: new("another good password"), RevokeTokens: revoke})
		s.must(err)
		if works("carol") == revoke || !works("root") {
			t.Errorf("with RevokeTokens %v: the token of carol works: %v, that of root: %v", revoke, works("carol"), works("root"))
		}
	}
}

// If two admins delete each other at the same time, one remains.
func TestAdminsDeleteEachOther(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		remaining := s.add("admin0", accounts.Admin)
		for i := range 5 {
			both := []accounts.User{remaining, s.add(fmt.Sprintf("admin%d", i+1), accounts.Admin)}
			var all sync.WaitGroup
			errs := make([]error, 2)
			for j, u := range both {
				all.Go(func() { errs[j] = s.Delete(t.Context(), u.ID) })
			}
			all.Wait()
			if (errs[0] == nil) == (errs[1] == nil) {
				t.Fatalf("got errors %v and %v, want exactly one", errs[0], errs[1])
			}
			if remaining = both[0]; errs[0] == nil {
				remaining = both[1]
			}
		}
	})
}

// Users of an identity provider choose their usernames, so they cannot get the one that ADMIN_PASSWORD signs in.
func TestAdminNameIsReserved(t *testing.T) {
	s := newStore(t, modelstest.New(t), func(o *accounts.Options) { o.AdminPassword = "settings password" })
	for _, issuer := range []string{"https://id.example", accounts.IssuerProxy} {
		_, err := s.Add(t.Context(), accounts.NewUser{Username: "Admin", Role: accounts.Viewer, Issuer: issuer, Subject: "1"})
		if models.CodeOf(err) != models.CodeConflict {
			t.Errorf("%s: got %v, want conflict", issuer, err)
		}
	}
	if u, err := s.Verify(t.Context(), accounts.Login{Username: "admin", Password: "settings password"}); err != nil || u.Role != accounts.Admin {
		t.Errorf("got %+v, %v", u, err)
	}
	s = newStore(t, modelstest.New(t))
	if _, err := s.Add(t.Context(), accounts.NewUser{Username: "admin", Role: accounts.Admin, Issuer: accounts.IssuerProxy, Subject: "admin"}); err != nil {
		t.Errorf("by a proxy without ADMIN_PASSWORD: %v", err)
	}
	s = newStore(t, modelstest.New(t))
	if _, err := s.Add(t.Context(), accounts.NewUser{Username: "admin", Role: accounts.Admin}); models.CodeOf(err) != models.CodeInvalid {
		t.Errorf("without a password: got %v, want invalid", err)
	}
}

// Names and filters that are not valid text do not reach the database, which would fail.
func TestInvalidText(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		s.add("alice", accounts.Admin)
		for _, name := range []string{"\x00", "alice\x00", "\xff", ""} {
			if _, err := s.Verify(t.Context(), accounts.Login{Username: name, Password: "wrong password"}); !errors.Is(err, accounts.ErrWrongLogin) {
				t.Errorf("username %q: got %v, want ErrWrongLogin", name, err)
			}
		}
		for _, f := range []accounts.AuditFilter{{Actor: "\x00"}, {Action: "\xff"}, {SubjectID: "\x00"}, {Address: "\xff"}} {
			if _, err := s.Audit(t.Context(), f, models.Cursor{}, 10); models.CodeOf(err) != models.CodeInvalid {
				t.Errorf("filter %+v: got %v, want invalid", f, err)
			}
		}
	})
}
