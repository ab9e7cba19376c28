package accounts_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/modelstest"
)

func TestVerify(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		ctx := t.Context()
		alice := s.addWithPassword("alice", accounts.Admin)
		s.add("bob", accounts.Viewer) // without a password
		u, err := s.Verify(ctx, accounts.Login{Username: " ALICE", Password: goodPassword})
		if err != nil || u.ID != alice.ID {
			t.Errorf("got %v, %v", u, err)
		}
		wrong := []accounts.Login{
			{Username: "alice", Password: goodPassword + " "}, {Username: "alice"}, {Username: "bob"}, {Username: "bob", Password: goodPassword},
			{Username: "unknown", Password: goodPassword}, {}, {Username: "alice", Password: strings.Repeat("x", 5000)},
			{Pending: "x"}, {Pending: "u_1.0.x"}, {Pending: alice.ID + ".zzzzzz.x"},
		}
		for _, l := range wrong {
			if _, err := s.Verify(ctx, l); !errors.Is(err, accounts.ErrWrongLogin) && models.CodeOf(err) != models.CodeUnavailable {
				t.Errorf("%+v: got %v, want ErrWrongLogin", l, err)
			}
		}
	})
}

// ADMIN_PASSWORD signs in the account admin, and adds it. It needs no password hash.
func TestAdminPassword(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		s := newStore(t, db, func(o *accounts.Options) { o.AdminPassword = "settings password" })
		ctx := t.Context()
		u, err := s.Verify(ctx, accounts.Login{Username: "Admin", Password: "settings password"})
		s.must(err)
		if u.Username != accounts.AdminName || u.Role != accounts.Admin || u.HasPassword() {
			t.Errorf("got %+v", u)
		}
		again, err := s.Verify(ctx, accounts.Login{Username: "admin", Password: "settings password"})
		if err != nil || again.ID != u.ID {
			t.Errorf("second login: got %v, %v", again, err)
		}
		for _, l := range []accounts.Login{{Username: "admin"}, {Username: "admin", Password: "settings passwor"}, {Username: "other", Password: "settings password"}} {
			if _, err := s.Verify(ctx, l); !errors.Is(err, accounts.ErrWrongLogin) {
				t.Errorf("%+v: %v", l, err)
			}
		}
		s.add("second", accounts.Admin)
		_, err = s.Edit(ctx, u.ID, accounts.Edit{Disabled: new(true)})
		s.must(err)
		if _, err := s.Verify(ctx, accounts.Login{Username: "admin", Password: "settings password"}); !errors.Is(err, accounts.ErrWrongLogin) {
			t.Errorf("disabled: got %v", err)
		}
		s.must(s.Delete(ctx, u.ID))
		if _, err := s.Verify(ctx, accounts.Login{Username: "admin", Password: "settings password"}); !errors.Is(err, accounts.ErrWrongLogin) {
			t.Errorf("deleted: got %v", err)
		}
	})
	s := newStore(t, modelstest.New(t))
	if _, err := s.Verify(t.Context(), accounts.Login{Username: "admin", Password: ""}); !errors.Is(err, accounts.ErrWrongLogin) {
		t.Errorf("without ADMIN_PASSWORD: got %v", err)
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
			t.Errorf("setup: got %+v", setup)
		}
		if _, err := s.Verify(ctx, login); err != nil { // not confirmed yet
			t.Errorf("before confirmation: %v", err)
		}
		_, err = s.ConfirmTOTP(ctx, u, "000000")
		wantCode(t, err, models.CodeInvalid)
		code := s.code(setup)
		codes, err := s.ConfirmTOTP(s.ctx(u), u, code)
		if err != nil || len(codes) != 10 {
			t.Fatalf("got %d codes, %v; want 10", len(codes), err)
		}
		_, err = s.PrepareTOTP(ctx, u)
		wantCode(t, err, models.CodeConflict)

		_, err = s.Verify(ctx, login)
		needed, ok := errors.AsType[*accounts.CodeNeeded](err)
		if !ok || needed.Wrong || needed.Pending == "" {
			t.Fatalf("got error %v, want CodeNeeded", err)
		}
		if s.PendingName(ctx, needed.Pending) != "alice" || s.PendingName(ctx, needed.Pending+"x") != "" {
			t.Error("wrong username of the pending login")
		}
		verifyCode := func(code string) error {
			_, err := s.Verify(ctx, accounts.Login{Pending: needed.Pending, Code: code})
			return err
		}
		wantRejected := func(code string) {
			t.Helper()
			if n, ok := errors.AsType[*accounts.CodeNeeded](verifyCode(code)); !ok || !n.Wrong {
				t.Errorf("code %q was accepted", code)
			}
		}
		wantRejected(code) // already used for the confirmation
		wantRejected("000000")
		wantRejected("AAAA-AAAA-AAAA-AAAA")
		s.clock.Advance(30 * time.Second)
		s.must(verifyCode(s.code(setup)[:3] + " " + s.code(setup)[3:]))
		wantRejected(s.code(setup)) // already used
		s.must(verifyCode(strings.ToLower(codes[3])))
		wantRejected(codes[3])
		if n, err := s.RecoveryCodesLeft(ctx, u); err != nil || n != 9 {
			t.Errorf("got %d recovery codes, %v; want 9", n, err)
		}
		s.clock.Advance(5 * time.Minute)
		if err := verifyCode(codes[4]); !errors.Is(err, accounts.ErrWrongLogin) {
			t.Errorf("pending login after five minutes: got %v, want ErrWrongLogin", err)
		}
		wantCode(t, s.RemoveTOTP(s.ctx(u), u, "wrong password"), models.CodeInvalid)
		s.must(s.ClearTOTP(s.ctx(u), u.ID))
		if _, err := s.Verify(ctx, login); err != nil && models.CodeOf(err) != models.CodeUnavailable {
			t.Errorf("after turning it off: %v", err)
		}
		for _, e := range s.entries() {
			for _, secret := range append(codes, setup.Secret, code, goodPassword) {
				if strings.Contains(fmt.Sprint(e), secret) {
					t.Errorf("audit entry contains a secret: %+v", e)
				}
			}
		}
	})
}

// A key that is not confirmed within ten minutes has expired, like one of an unknown age.
func TestTwoFactorKeyExpires(t *testing.T) {
	each(t, func(t *testing.T, s *store) {
		u := s.add("alice", accounts.Admin)
		late := func(after time.Duration) error {
			setup, err := s.PrepareTOTP(t.Context(), u)
			s.must(err)
			s.clock.Advance(after)
			_, err = s.ConfirmTOTP(t.Context(), u, s.code(setup))
			return err
		}
		wantCode(t, late(10*time.Minute), models.CodeConflict)
		setup, err := s.PrepareTOTP(t.Context(), u)
		s.must(err)
		s.must(s.db.Write(t.Context(), func(tx *gorm.DB) error { return tx.Exec("UPDATE users SET totp_prepared_at = NULL").Error }))
		_, err = s.ConfirmTOTP(t.Context(), u, s.code(setup))
		wantCode(t, err, models.CodeConflict)
		s.must(late(10*time.Minute - time.Second))
	})
}

func (s *store) code(setup accounts.Setup) string {
	s.Helper()
	code, err := totp.GenerateCode(setup.Secret, s.Now().Time)
	s.must(err)
	return code
}

// A password change invalidates pending logins.
func TestPasswordChangeInvalidatesPendingLogin(t *testing.T) {
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
		t.Errorf("got %v, want ErrWrongLogin", err)
	}
}

// A login that was verified before a password change cannot start a session after it.
func TestLoginDuringPasswordChange(t *testing.T) {
	s := newStore(t, modelstest.New(t))
	s.add("root", accounts.Admin)
	u, err := s.Add(t.Context(), accounts.NewUser{Username: "alice", Role: accounts.Viewer, Password: goodPassword})
	s.must(err)
	verified, err := s.Verify(t.Context(), accounts.Login{Username: "alice", Password: goodPassword})
	s.must(err)
	password := "another horse battery"
	_, err = s.Edit(t.Context(), u.ID, accounts.Edit{Password: &password})
	s.must(err)
	if _, err := s.StartSession(t.Context(), verified, accounts.Client{}, ""); !errors.Is(err, accounts.ErrWrongLogin) {
		t.Errorf("got %v, want ErrWrongLogin", err)
	}
}
