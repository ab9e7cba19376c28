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

// Login is what somebody signs in with.
type Login struct {
	Username, Password string
	Code               string // of the second factor, or a recovery code; "" = none
	Pending            string // of CodeNeeded, in place of username and password; "" = none
}

// ErrWrongLogin is the error of a login that opens nothing. It is the same for an unknown
// username, a wrong password, an account that is disabled or has no password, and takes as long.
var ErrWrongLogin = errors.New("wrong username or password")

// CodeNeeded is the error of a login whose password is right and whose code of the second
// factor is missing or wrong.
type CodeNeeded struct {
	Pending string // stands for username and password for pendingFor
	Wrong   bool   // a code was sent
}

func (*CodeNeeded) Error() string { return "the code of the second factor is missing or wrong" }

// pendingFor is how long somebody has to enter the code after the password.
const pendingFor = 5 * time.Minute

// Verify returns the account that a login opens. The error is ErrWrongLogin, a *CodeNeeded,
// or CodeUnavailable if too many passwords are being compared. A code is used once.
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
		if u.Disabled {
			return User{}, ErrWrongLogin
		}
		return u, nil
	}
	if len(l.Password) > MaxPassword {
		return User{}, ErrWrongLogin
	}
	ok, err := s.hasher.matches(ctx, l.Password, u.PasswordHash)
	if err == nil && (!ok || !known || u.Disabled) {
		err = ErrWrongLogin
	}
	return u, err
}

// isAdminPassword compares hashes, since comparing texts takes longer the more of them is right.
func (s *Store) isAdminPassword(given string) bool {
	want, have := sha256.Sum256([]byte(s.opts.AdminPassword)), sha256.Sum256([]byte(given))
	return s.opts.AdminPassword != "" && subtle.ConstantTimeCompare(want[:], have[:]) == 1
}

// addAdmin adds the account of ADMIN_PASSWORD, unless somebody else does at the same time.
func (s *Store) addAdmin(ctx context.Context) (User, error) {
	u, err := s.Add(ctx, New{Username: AdminName, Role: Admin})
	if models.CodeOf(err) != models.CodeConflict {
		return u, err
	}
	if u, err = s.ByName(ctx, AdminName); models.CodeOf(err) == models.CodeNotFound { // it was deleted
		err = ErrWrongLogin
	}
	return u, err
}

// pending is a signed text that says that the password of an account was right. It ends with
// the password.
func (s *Store) pending(u User) string {
	text := u.ID + "." + strconv.FormatInt(s.clock.Now().Add(pendingFor).Unix(), 36)
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
	until, err := strconv.ParseInt(parts[1], 36, 64)
	if err != nil || s.clock.Now().Unix() >= until {
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
	if subtle.ConstantTimeCompare([]byte(want), []byte(parts[2])) != 1 || u.Disabled {
		return User{}, ErrWrongLogin
	}
	return u, nil
}

// PendingName is the username of a pending login, or "" if it is not valid.
func (s *Store) PendingName(ctx context.Context, pending string) string {
	u, err := s.verifyPending(ctx, pending)
	if err != nil {
		return ""
	}
	return u.Username
}

// CheckOwnPassword is CodeInvalid unless a password is that of an account: somebody who found an
// open browser must not change how its owner signs in. An account without a password has
// none to ask for.
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
		if ok, err = s.hasher.matches(ctx, password, u.PasswordHash); err != nil {
			return err
		}
	}
	if !ok {
		return models.Invalid("current_password", "is wrong")
	}
	return nil
}

// HasPassword reports whether an account can sign in by a password: its own, or ADMIN_PASSWORD.
func (s *Store) HasPassword(u User) bool {
	return u.HasPassword() || u.Username == AdminName && s.opts.AdminPassword != ""
}

// EnsureAdmin is the account of ADMIN_PASSWORD, which is added if there is none.
func (s *Store) EnsureAdmin(ctx context.Context) (User, error) {
	u, err := s.ByName(ctx, AdminName)
	if models.CodeOf(err) == models.CodeNotFound {
		u, err = s.addAdmin(ctx)
	}
	if errors.Is(err, ErrWrongLogin) { // it was deleted
		err = models.NotFound("account")
	}
	return u, err
}
