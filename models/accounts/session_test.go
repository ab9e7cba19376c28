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
