package accounts

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"strconv"
	"strings"
	"time"

	"linkwatch/models"
)

// Login is the content of the login form.
type Login struct {
	Username, Password string
	Code               string // code of the authenticator app, or a recovery code; "" = none
	Pending            string // CodeNeeded.Pending, instead of username and password; "" = none

	Known bool   // the client has signed in to the account before
	By    string // network or account that the login is counted for
}

// ErrWrongLogin is the error of a failed login. An unknown username, a wrong password, and an account that is disabled
// or has no password return the same error after the same time.
var ErrWrongLogin = errors.New("wrong username or password")

// CodeNeeded is the error of a login with the right password but a missing or wrong second-factor code.
type CodeNeeded struct {
	Pending string // replaces username and password for pendingTTL
	Wrong   bool   // a code was sent
}

func (*CodeNeeded) Error() string { return "second-factor code is missing or wrong" }

// pendingTTL is the time to enter the code after the password.
const pendingTTL = 5 * time.Minute

// Verify returns the account of a login. The error is ErrWrongLogin, a *CodeNeeded, or CodeUnavailable if the hashing
// budget is used up. Each code is accepted once.
func (s *Store) Verify(ctx context.Context, l Login) (User, error) {
	u, err := s.verifyPassword(ctx, l)
	if err != nil || !u.HasTOTP() {
		return u, err
	}
	if strings.TrimSpace(l.Code) == "" {
		return User{}, &CodeNeeded{Pending: s.pending(u)}
	}
	ok, err := s.useCode(ctx, u, l.Code)
	if err == nil && !ok {
		err = &CodeNeeded{Pending: s.pending(u), Wrong: true}
	}
	return u, err
}

func (s *Store) verifyPassword(ctx context.Context, l Login) (User, error) {
	if l.Pending != "" {
		return s.verifyPending(ctx, l.Pending)
	}
	name := foldUsername(l.Username)
	u, err := s.ByName(ctx, name)
	known := err == nil
	if err != nil && models.CodeOf(err) != models.CodeNotFound {
		return User{}, err
	}
	if name == AdminName && s.isAdminPassword(l.Password) {
		if !known {
			if u, err = s.addAdmin(ctx); err != nil {
				return User{}, err
			}
		}
		if u.Blocked() {
			return User{}, ErrWrongLogin
		}
		return u, nil
	}
	if len(l.Password) > MaxPassword {
		return User{}, ErrWrongLogin
	}
	ok, err := s.hasher.matches(ctx, payer{l.Known, l.By}, l.Password, u.PasswordHash)
	if err == nil && (!ok || !known || u.Blocked()) {
		err = ErrWrongLogin
	}
	return u, err
}

// isAdminPassword compares hashes in constant time, so that the response time does not reveal a matching prefix.
func (s *Store) isAdminPassword(password string) bool {
	want, got := sha256.Sum256([]byte(s.opts.AdminPassword)), sha256.Sum256([]byte(password))
	return s.opts.AdminPassword != "" && subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

// addAdmin adds the account of ADMIN_PASSWORD, or returns it if another request has just added it.
func (s *Store) addAdmin(ctx context.Context) (User, error) {
	u, err := s.Add(ctx, NewUser{Username: AdminName, Role: Admin})
	if models.CodeOf(err) != models.CodeConflict {
		return u, err
	}
	if u, err = s.ByName(ctx, AdminName); models.CodeOf(err) == models.CodeNotFound { // the account was deleted
		err = ErrWrongLogin
	}
	return u, err
}

// pending returns a signed token which states that the password of an account was right. It expires after pendingTTL,
// and becomes invalid when the password changes.
func (s *Store) pending(u User) string {
	text := u.ID + "." + strconv.FormatInt(s.clock.Now().Add(pendingTTL).Unix(), 36)
	return text + "." + s.signPending(text, u)
}

func (s *Store) signPending(text string, u User) string {
	return s.opts.Sign("pending login " + text + " " + u.PasswordHash)
}

func (s *Store) verifyPending(ctx context.Context, pending string) (User, error) {
	parts := strings.SplitN(pending, ".", 3)
	if len(parts) != 3 {
		return User{}, ErrWrongLogin
	}
	expires, err := strconv.ParseInt(parts[1], 36, 64)
	if err != nil || s.clock.Now().Unix() >= expires {
		return User{}, ErrWrongLogin
	}
	u, err := s.Get(ctx, parts[0])
	switch {
	case models.CodeOf(err) == models.CodeNotFound:
		return User{}, ErrWrongLogin
	case err != nil:
		return User{}, err
	}
	want := s.signPending(parts[0]+"."+parts[1], u)
	if subtle.ConstantTimeCompare([]byte(want), []byte(parts[2])) != 1 || u.Blocked() {
		return User{}, ErrWrongLogin
	}
	return u, nil
}

// PendingName returns the username of a pending login, or "" if the login is invalid or expired.
func (s *Store) PendingName(ctx context.Context, pending string) string {
	u, err := s.verifyPending(ctx, pending)
	if err != nil {
		return ""
	}
	return u.Username
}

// CheckOwnPassword returns CodeInvalid unless the password of the account is right. Changes to how a user signs in
// require it, because a session may be in the wrong hands. It accepts any password for an account that has none.
func (s *Store) CheckOwnPassword(ctx context.Context, u User, password string) error {
	if !s.HasPassword(u) {
		return nil
	}
	if u.Username == AdminName && s.isAdminPassword(password) {
		return nil
	}
	ok := false
	if len(password) <= MaxPassword {
		var err error
		if ok, err = s.hasher.matches(ctx, payerOf(ctx), password, u.PasswordHash); err != nil {
			return err
		}
	}
	if !ok {
		return models.Invalid("current_password", "is wrong")
	}
	return nil
}

// HasPassword reports whether an account can sign in with a password: its own, or ADMIN_PASSWORD.
func (s *Store) HasPassword(u User) bool {
	return u.HasPassword() || u.Username == AdminName && s.opts.AdminPassword != ""
}

// EnsureAdmin returns the account of ADMIN_PASSWORD, and adds it if it does not exist.
func (s *Store) EnsureAdmin(ctx context.Context) (User, error) {
	u, err := s.ByName(ctx, AdminName)
	if models.CodeOf(err) == models.CodeNotFound {
		u, err = s.addAdmin(ctx)
	}
	if errors.Is(err, ErrWrongLogin) { // the account was deleted
		err = models.NotFound("account")
	}
	return u, err
}
