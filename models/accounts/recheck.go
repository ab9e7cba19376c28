package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// Grant is what the identity provider gave for a session. Its tokens are stored encrypted, for this session only.
type Grant struct {
	IDToken      string
	RefreshToken string // "" = none: only the browser can ask the provider again
}

const (
	maxGrant     = 16 << 10         // bytes of a token; longer ones are not stored
	maxRecheck   = 20 * time.Second // of a check, with storing its result
	retryRecheck = time.Minute      // between a check that failed because the provider is unavailable, and the next

	refreshTokenOwner = "refresh token "
	idTokenOwner      = "id token "
)

// Check is what a session needs before it can be used.
type Check int

// The checks.
const (
	CheckNone    Check = iota
	CheckRefresh       // ask the provider, with ClaimRecheck
	CheckBrowser       // the browser must return to the provider
	CheckRunning       // another request asks the provider, on any instance
	CheckFailed        // the provider has been unavailable for too long
)

// Check returns what a session needs. One that began at the identity provider is due when OIDC_RECHECK has passed
// since the provider confirmed the user. If the provider is then unavailable, the session lasts as long again.
func (s *Store) Check(session Session) Check {
	now := s.clock.Now()
	switch {
	case s.IsConfirmed(session):
		return CheckNone
	case !now.Before(session.RetryAt.Time) && session.Refreshable:
		return CheckRefresh
	case !now.Before(session.RetryAt.Time):
		return CheckBrowser
	case s.Lasts(session):
		return CheckNone
	case session.Refreshable && session.RetryAt.After(now.Add(retryRecheck).Time):
		return CheckRunning
	}
	return CheckFailed
}

// IsConfirmed reports whether a session is not due.
func (s *Store) IsConfirmed(session Session) bool {
	return session.Method != MethodOIDC || s.clock.Now().Before(session.ConfirmedAt.Add(s.opts.Recheck).Time)
}

// Lasts reports whether a session that is due can still be used while the provider is unavailable.
func (s *Store) Lasts(session Session) bool {
	return s.clock.Now().Before(session.ConfirmedAt.Add(2 * s.opts.Recheck).Time)
}

// StartProviderSession is StartSession for a user whom the identity provider has just accepted.
func (s *Store) StartProviderSession(
	ctx context.Context, u User, g Grant, from Client, old string,
) (secret string, err error) {
	row := newSession{Session: Session{
		ID: models.NewID(models.KindSession), Method: MethodOIDC, ConfirmedAt: s.clock.Now(),
	}}
	if row.RefreshToken, row.IDToken, err = s.sealGrant(row.ID, g); err != nil {
		return "", err
	}
	return s.startSession(ctx, u, row, from, old)
}

// ClaimRecheck returns the refresh token of a session that needs CheckRefresh. ok is false if another request has
// claimed or made the check, on any instance. The claim lasts for maxRecheck, and the next one is possible after
// retryRecheck. A token that cannot be decrypted, or that is from another provider, is "".
func (s *Store) ClaimRecheck(ctx context.Context, o Principal) (refreshToken string, ok bool, err error) {
	now, session := s.clock.Now(), o.Session
	var claimed []newSession
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Raw(`UPDATE sessions SET retry_at = ?
			WHERE id = ? AND COALESCE(retry_at, 0) <= ? AND COALESCE(confirmed_at, 0) <= ? AND refresh_token IS NOT NULL
			RETURNING id, refresh_token`,
			now.Add(maxRecheck+retryRecheck), session.ID, now, now.Add(-s.opts.Recheck)).Scan(&claimed).Error
	})
	if err != nil || len(claimed) == 0 {
		return "", false, wrapError("claim recheck", err)
	}
	if !s.isOfProvider(o.User) {
		return "", true, nil
	}
	return s.openToken(claimed[0].RefreshToken, session.ID, refreshTokenOwner), true, nil
}

// Confirm records that the identity provider has confirmed the user of a session. ok is false if the session has ended.
func (s *Store) Confirm(ctx context.Context, id string, g Grant) (ok bool, err error) {
	refresh, idToken, err := s.sealGrant(id, g)
	if err != nil {
		return false, err
	}
	now := s.clock.Now()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		res := tx.Exec(`UPDATE sessions SET confirmed_at = ?, retry_at = NULL, refresh_token = ?, id_token = ?
			WHERE id = ? AND method = 'oidc'`, now, refresh, idToken, id)
		ok = res.RowsAffected == 1
		return wrapError("confirm session", res.Error)
	})
	return ok, err
}

// Postpone ends a claim, or lets a session that needs CheckBrowser last for retryRecheck, because the provider is
// unavailable. ok is false if that has been so for too long.
func (s *Store) Postpone(ctx context.Context, session Session) (ok bool, err error) {
	if ok = s.Lasts(session); !ok && !session.Refreshable {
		return false, nil
	}
	now := s.clock.Now()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE sessions SET retry_at = ? WHERE id = ?", now.Add(retryRecheck), session.ID).Error
	})
	return ok && err == nil, wrapError("postpone recheck", err)
}

// IDToken returns the last ID token of a session; "" = none, or from another provider.
func (s *Store) IDToken(ctx context.Context, o Principal) (string, error) {
	if !s.isOfProvider(o.User) {
		return "", nil
	}
	var sealed []byte
	err := s.db.Read(ctx).Raw("SELECT id_token FROM sessions WHERE id = ?", o.Session.ID).Row().Scan(&sealed)
	if errors.Is(err, sql.ErrNoRows) { // the session has ended
		return "", nil
	}
	return s.openToken(sealed, o.Session.ID, idTokenOwner), wrapError("read id token", err)
}

// KeepRefreshToken stores the token that replaces the one of a session. The old one may no longer be valid.
func (s *Store) KeepRefreshToken(ctx context.Context, session Session, token string) error {
	sealed, err := s.sealToken(token, session.ID, refreshTokenOwner)
	if err != nil {
		return err
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE sessions SET refresh_token = ? WHERE id = ?", sealed, session.ID).Error
	})
	return wrapError("store refresh token", err)
}

// ForgetRefreshToken makes a session need CheckBrowser, because its refresh token is no longer valid.
func (s *Store) ForgetRefreshToken(ctx context.Context, session Session) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE sessions SET refresh_token = NULL, retry_at = NULL WHERE id = ?", session.ID).Error
	})
	return wrapError("delete refresh token", err)
}

// Refuse records that the identity provider has refused the user of an account. It ends the sessions of the account.
// Until the provider accepts the user again or an admin enables the account, the user cannot sign in or use API
// tokens. why is for the audit log.
func (s *Store) Refuse(ctx context.Context, u User, why audit.Values) error {
	now := s.clock.Now()
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		u, err := lockUser(tx, u.ID, false)
		if err != nil {
			return err
		}
		if err := endSessions(tx, u.Seq, ""); err != nil {
			return err
		}
		if !u.RefusedAt.IsZero() {
			return nil
		}
		u.RefusedAt = now
		if err := saveUser(tx, u, "refused_at"); err != nil {
			return err
		}
		return audit.Add(tx, now, audit.Change{Action: "user.refuse", Subject: u.subject(), After: why})
	})
}

// isOfProvider reports whether the account belongs to a user of the identity provider.
func (s *Store) isOfProvider(u User) bool {
	return s.opts.Provider != "" && u.OIDCIssuer == s.opts.Provider
}

// HasProviderRole reports whether the identity provider decides the role of an account.
func (s *Store) HasProviderRole(u User) bool { return s.opts.ProviderRoles && s.isOfProvider(u) }

// MaySetPassword reports whether the user of an account may change its password. A user of the identity provider may
// not add the first one: it would be valid after the user was removed there.
func (s *Store) MaySetPassword(u User) bool { return !s.isOfProvider(u) || u.HasPassword() }

func (s *Store) sealGrant(session string, g Grant) (refreshToken, idToken []byte, err error) {
	if refreshToken, err = s.sealToken(g.RefreshToken, session, refreshTokenOwner); err == nil {
		idToken, err = s.sealToken(g.IDToken, session, idTokenOwner)
	}
	return refreshToken, idToken, err
}

func (s *Store) sealToken(token, session, owner string) ([]byte, error) {
	if token == "" || len(token) > maxGrant {
		return nil, nil
	}
	sealed, err := s.opts.Seal([]byte(token), owner+session)
	if err != nil {
		return nil, fmt.Errorf("encrypt token: %w", err)
	}
	return sealed, nil
}

// openToken decrypts a token; "" = none, or encrypted with another key.
func (s *Store) openToken(sealed []byte, session, owner string) string {
	if sealed == nil {
		return ""
	}
	plain, err := s.opts.Open(sealed, owner+session)
	if err != nil {
		return ""
	}
	return string(plain)
}
