package accounts_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/accounts"
)

func TestSessions(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		alice, bob := s.add("alice", accounts.Admin), s.add("bob", accounts.Editor)
		first := s.startSession(alice, "")
		o, ok, err := s.BySession(t.Context(), first)
		if err != nil || !ok || o.Username != "alice" || o.Role != accounts.Admin || o.Session.Device != "Firefox on Linux" || o.Session.Address != "203.0.113.7" {
			t.Fatalf("got %+v, %v, %v", o, ok, err)
		}
		for _, wrong := range []string{"", "x", first[:len(first)-1], first + "x", strings.ToLower(first), o.Session.ID, string(o.Session.SecretHash)} {
			if s.isOpen(wrong) {
				t.Errorf("secret %q was accepted", wrong)
			}
		}
		second := s.startSession(alice, first) // another login in the same browser
		if first == second || s.isOpen(first) || !s.isOpen(second) {
			t.Error("the previous session of the browser was not replaced")
		}
		other := s.startSession(bob, "")
		third := s.startSession(alice, "")
		list, err := s.Sessions(t.Context(), alice)
		if err != nil || len(list) != 2 {
			t.Fatalf("got %d sessions, %v; want 2", len(list), err)
		}
		bobs, err := s.Sessions(t.Context(), bob)
		s.must(err)
		wantCode(t, s.EndSession(s.ctx(alice), alice, bobs[0].ID), models.CodeNotFound)
		s.must(s.EndSession(s.ctx(alice), alice, list[0].ID))
		if s.isOpen(second) == s.isOpen(third) {
			t.Error("EndSession ended the wrong session")
		}
		s.must(s.EndSessions(s.ctx(alice), alice))
		if s.isOpen(second) || s.isOpen(third) || !s.isOpen(other) {
			t.Error("EndSessions must end all sessions of the account, and no others")
		}
		ctx := models.WithActor(t.Context(), models.Actor{ID: bob.ID, Name: "bob", CredentialID: bobs[0].ID})
		_, _, err = s.SignOut(ctx)
		s.must(err)
		if s.isOpen(other) {
			t.Error("the session is active after SignOut")
		}
	})
}

func TestSessionExpiry(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		u := s.add("alice", accounts.Admin)
		s.add("root", accounts.Admin)
		secret := s.startSession(u, "")
		for range 2 { // use every 23 hours
			s.clock.Advance(23 * time.Hour)
			if !s.isOpen(secret) {
				t.Fatal("a session in use expired")
			}
			s.must(s.Flush(t.Context()))
		}
		s.clock.Advance(24 * time.Hour)
		if s.isOpen(secret) {
			t.Error("a session that was idle for a day is active")
		}
		secret = s.startSession(u, "")
		for range 3 {
			s.clock.Advance(23 * time.Hour)
			if !s.isOpen(secret) {
				t.Fatal("the session expired early")
			}
			s.must(s.Flush(t.Context()))
		}
		s.clock.Advance(3 * time.Hour)
		if s.isOpen(secret) {
			t.Error("a session in use is active after MaxAge")
		}
		if n, err := reap(s, s.ReapSessions); err != nil || n != 2 {
			t.Errorf("reaped %d sessions, %v; want 2", n, err)
		}
		secret = s.startSession(u, "")
		_, err := s.Edit(t.Context(), u.ID, accounts.Edit{Disabled: new(true)})
		s.must(err)
		if s.isOpen(secret) {
			t.Error("the session of a disabled account is active")
		}
		if _, err := s.StartSession(s.ctx(u), u, accounts.Client{}, ""); !errors.Is(err, accounts.ErrWrongLogin) {
			t.Errorf("login of a disabled account: got %v, want ErrWrongLogin", err)
		}
		_, err = s.Edit(t.Context(), u.ID, accounts.Edit{Disabled: new(false)})
		s.must(err)
		if s.isOpen(secret) {
			t.Error("enabling the account restored its sessions")
		}
		secret = s.startSession(u, "")
		s.must(s.Delete(t.Context(), u.ID))
		if s.isOpen(secret) {
			t.Error("the session of a deleted account is active")
		}
	})
}

// A new password ends all sessions except the current one.
func TestChangePassword(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		u := s.addWithPassword("alice", accounts.Admin)
		current, other := s.startSession(u, ""), s.startSession(u, "")
		o, _, err := s.BySession(t.Context(), current)
		s.must(err)
		ctx := models.WithActor(t.Context(), models.Actor{ID: u.ID, Name: "alice", CredentialID: o.Session.ID})
		wantCode(t, s.ChangePassword(ctx, u, "wrong password", "another good one"), models.CodeInvalid)
		wantCode(t, s.ChangePassword(ctx, u, goodPassword, "password1"), models.CodeInvalid)
		s.must(s.ChangePassword(ctx, u, goodPassword, "another good one"))
		if !s.isOpen(current) || s.isOpen(other) {
			t.Error("the other session must end, and the current one must not")
		}
		if _, err := s.Verify(t.Context(), accounts.Login{Username: "alice", Password: goodPassword}); !errors.Is(err, accounts.ErrWrongLogin) {
			t.Errorf("login with the old password: got %v, want ErrWrongLogin", err)
		}
	})
}
