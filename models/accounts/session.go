package accounts

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// Login methods, as sessions and audit entries store them.
const (
	MethodPassword = "password"
	MethodOIDC     = "oidc"
)

// maxSessions limits the sessions of an account. One more login ends the least recently used session.
const maxSessions = 100

// Session is a signed-in browser.
type Session struct {
	SecretHash []byte `gorm:"primaryKey"`
	ID         string
	UserSeq    int64
	Method     string
	Address    string // client address at login
	Device     string // "Firefox on Linux"; "" = unknown
	CreatedAt  models.Time
	LastSeenAt models.Time // to the minute
	ExpiresAt  models.Time // use does not extend it

	ConfirmedAt models.Time // when the identity provider last confirmed the user; zero = unknown
	RetryAt     models.Time // when the next check at the provider may start; zero = when it is due
	Refreshable bool        `gorm:"->"` // has a refresh token; BySession alone reads it
}

// Client is the browser that signs in.
type Client struct{ Address, Device string }

// newSecret returns a random text with 130 bits of entropy.
func newSecret() string { return rand.Text() }

// hashSecret returns the stored form of a random secret. The secret cannot be guessed, so it needs neither a salt nor a
// slow hash.
func hashSecret(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// StartSession signs an account in with its password and returns the secret of the new session, of which only the
// hash is stored. old is the session secret that the browser had, "" = none; that session ends. The new secret
// prevents session fixation. The actor of ctx is recorded in the audit log. The error is ErrWrongLogin if the account
// was disabled or its password changed since u was verified.
func (s *Store) StartSession(ctx context.Context, u User, from Client, old string) (secret string, err error) {
	return s.startSession(ctx, u, newSession{Session: Session{Method: MethodPassword}}, from, old)
}

// newSession is the row of a session, with columns that are read separately.
type newSession struct {
	Session               `gorm:"embedded"`
	RefreshToken, IDToken []byte // encrypted; nil = none
}

// TableName implements gorm's Tabler.
func (newSession) TableName() string { return "sessions" }

func (s *Store) startSession(
	ctx context.Context, u User, row newSession, from Client, old string,
) (secret string, err error) {
	now, secret := s.clock.Now(), newSecret()
	if row.ID == "" {
		row.ID = models.NewID(models.KindSession)
	}
	row.SecretHash, row.UserSeq, row.Address, row.Device = hashSecret(secret), u.Seq, from.Address, from.Device
	row.CreatedAt, row.LastSeenAt, row.ExpiresAt = now, now, now.Add(s.opts.MaxAge)
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		verified := u
		u, err := lockUser(tx, u.ID, false)
		if err != nil {
			return err
		}
		if row.Method == MethodOIDC {
			u.RefusedAt = models.Time{} // the provider has just accepted the user
		}
		if u.Blocked() || row.Method == MethodPassword && u.PasswordHash != verified.PasswordHash {
			return ErrWrongLogin
		}
		if old != "" {
			if err := tx.Exec("DELETE FROM sessions WHERE secret_hash = ?", hashSecret(old)).Error; err != nil {
				return fmt.Errorf("end previous session: %w", err)
			}
		}
		if err := tx.Exec(`DELETE FROM sessions WHERE secret_hash IN (SELECT secret_hash FROM sessions WHERE user_seq = ?
			ORDER BY last_seen_at DESC, secret_hash LIMIT ? OFFSET ?)`, u.Seq, maxSessions, maxSessions-1).Error; err != nil {
			return fmt.Errorf("end oldest sessions: %w", err)
		}
		if err := tx.Create(&row).Error; err != nil {
			return fmt.Errorf("insert session: %w", err)
		}
		u.LastLoginAt = now
		if err := saveUser(tx, u, "last_login_at", "refused_at"); err != nil {
			return err
		}
		after := audit.Values{"session": row.ID, "method": row.Method, "device": from.Device}
		return audit.Add(tx, now, audit.Change{Action: "login", Subject: u.subject(), After: after})
	})
	return secret, err
}

// keepUsedLogins is how long a used login is kept after it expired: clocks of instances may differ.
const keepUsedLogins = time.Hour

// usedLogin is a login at an identity provider that came back.
type usedLogin struct {
	StateHash []byte `gorm:"primaryKey"`
	ExpiresAt models.Time
}

// UseLogin records that a login at an identity provider comes back. ok is false if it did before, on any instance. state
// identifies the login, which is refused after expires.
func (s *Store) UseLogin(ctx context.Context, state string, expires time.Time) (ok bool, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		res := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&usedLogin{hashSecret(state), models.At(expires)})
		ok = res.RowsAffected == 1
		return wrapError("store used login", res.Error)
	})
	return ok, err
}

// ReapUsedLogins deletes up to limit used logins that have expired.
func (s *Store) ReapUsedLogins(tx *gorm.DB, limit int) (int64, error) {
	return s.db.DeleteBatch(tx, limit, "used_logins", "state_hash", "expires_at <= ? ORDER BY expires_at", s.clock.Now().Add(-keepUsedLogins))
}

// Principal is the account that a session secret or an API token authenticates.
type Principal struct {
	User
	Session Session // zero for a token
	Token   Token   // zero for a session
}

// BySession returns the account and the session of a secret. ok is false if there is no such session, if it expired, or
// if the account is disabled, refused or deleted. It makes one query. Check says if the session is to be confirmed.
func (s *Store) BySession(ctx context.Context, secret string) (o Principal, ok bool, err error) {
	var found []struct {
		User    `gorm:"embedded"`
		Session `gorm:"embedded;embeddedPrefix:s_"`
	}
	err = s.db.Read(ctx).Raw(`SELECT u.*, s.id AS s_id, s.method AS s_method, s.address AS s_address, s.device AS s_device,
		s.created_at AS s_created_at, s.last_seen_at AS s_last_seen_at, s.expires_at AS s_expires_at, s.user_seq AS s_user_seq,
		s.confirmed_at AS s_confirmed_at, s.retry_at AS s_retry_at, s.refresh_token IS NOT NULL AS s_refreshable
		FROM sessions AS s JOIN users AS u ON u.seq = s.user_seq WHERE s.secret_hash = ?`, hashSecret(secret)).Scan(&found).Error
	if err != nil || len(found) == 0 {
		return Principal{}, false, wrapError("find session", err)
	}
	o = Principal{User: found[0].User, Session: found[0].Session}
	now := s.clock.Now()
	if o.Blocked() || !o.DeletedAt.IsZero() || !s.isActive(o.Session, now) {
		return Principal{}, false, nil
	}
	s.usage.useSession(o.Session, now)
	return o, true, nil
}

// EndedSession returns the ID of the account of a session, which may have ended; "" = unknown.
func (s *Store) EndedSession(ctx context.Context, secret string) (userID string, err error) {
	err = s.db.Read(ctx).Raw("SELECT u.id FROM sessions AS s JOIN users AS u ON u.seq = s.user_seq WHERE s.secret_hash = ?", hashSecret(secret)).Scan(&userID).Error
	return userID, wrapError("find ended session", err)
}

// isActive reports whether a session has neither expired nor been idle for too long.
func (s *Store) isActive(session Session, now models.Time) bool {
	return now.Before(session.ExpiresAt.Time) && now.Before(session.LastSeenAt.Add(s.opts.IdleTimeout).Time)
}

func wrapError(action string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	return nil
}

// Sessions lists the active sessions of an account, newest first.
func (s *Store) Sessions(ctx context.Context, u User) ([]Session, error) {
	var all []Session
	now := s.clock.Now()
	err := s.db.Read(ctx).Where("user_seq = ? AND expires_at > ? AND last_seen_at > ?", u.Seq, now, now.Add(-s.opts.IdleTimeout)).
		Order("created_at DESC, id DESC").Limit(maxSessions).Find(&all).Error
	return all, wrapError("list sessions", err)
}

// HasSessionFrom reports whether an account has an active session that was started from a client address.
func (s *Store) HasSessionFrom(ctx context.Context, username, address string) (ok bool, err error) {
	now := s.clock.Now()
	err = s.db.Read(ctx).Raw(`SELECT EXISTS (SELECT 1 FROM sessions WHERE address = ? AND expires_at > ? AND last_seen_at > ? AND user_seq = (SELECT seq FROM users WHERE username = ?))`,
		address, now, now.Add(-s.opts.IdleTimeout), foldUsername(username)).Scan(&ok).Error
	return ok, wrapError("find sessions", err)
}

// SignOut ends the session of the actor of ctx. byProvider is true if it began at the identity provider. idToken is
// the last ID token of the session; "" = unknown.
func (s *Store) SignOut(ctx context.Context) (byProvider bool, idToken string, err error) {
	actor, _ := models.ActorOf(ctx)
	now := s.clock.Now()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		var ended []newSession
		q := tx.Raw("DELETE FROM sessions WHERE id = ? RETURNING id, method, id_token", actor.CredentialID)
		if err := q.Scan(&ended).Error; err != nil {
			return fmt.Errorf("end session: %w", err)
		}
		for _, e := range ended {
			byProvider, idToken = e.Method == MethodOIDC, s.openToken(e.IDToken, e.ID, idTokenOwner)
		}
		return audit.Add(tx, now, audit.Change{Action: "logout", Subject: audit.Subject{Kind: "user", ID: actor.ID, Name: actor.Name}})
	})
	return byProvider, idToken, err
}

// EndSession ends a session of an account. The error is CodeNotFound if the account has no session with this ID.
func (s *Store) EndSession(ctx context.Context, u User, id string) error {
	if models.CheckID(models.KindSession, id) != nil {
		return models.NotFound("session")
	}
	now := s.clock.Now()
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		res := tx.Exec("DELETE FROM sessions WHERE user_seq = ? AND id = ?", u.Seq, id)
		if res.Error != nil {
			return fmt.Errorf("end session: %w", res.Error)
		}
		if res.RowsAffected == 0 {
			return models.NotFound("session")
		}
		return audit.Add(tx, now, audit.Change{Action: "session.end", Subject: u.subject(), Before: audit.Values{"session": id}})
	})
}

// EndSessions ends all sessions of an account.
func (s *Store) EndSessions(ctx context.Context, u User) error {
	now := s.clock.Now()
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := endSessions(tx, u.Seq, ""); err != nil {
			return err
		}
		return audit.Add(tx, now, audit.Change{Action: "session.end_all", Subject: u.subject()})
	})
}

// endSessions ends the sessions of an account except the one with the ID except; "" = all.
func endSessions(tx *gorm.DB, userSeq int64, except string) error {
	return wrapError("end sessions", tx.Exec("DELETE FROM sessions WHERE user_seq = ? AND id <> ?", userSeq, except).Error)
}

// ChangePassword sets a new password and ends all sessions of the account except the one of ctx's actor. The error is
// CodeInvalid if the current password is wrong.
func (s *Store) ChangePassword(ctx context.Context, u User, current, password string) error {
	if !s.MaySetPassword(u) {
		return models.Conflict("You sign in at the identity provider. Only an admin can give your account a password.")
	}
	if err := CheckPassword(password, u.Username); err != nil {
		return err
	}
	if err := s.CheckOwnPassword(ctx, u, current); err != nil {
		return err
	}
	hash, err := s.hasher.hash(ctx, password)
	if err != nil {
		return err
	}
	now := s.clock.Now()
	actor, _ := models.ActorOf(ctx)
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		u, err := lockUser(tx, u.ID, false)
		if err != nil {
			return err
		}
		u.PasswordHash, u.PasswordChangedAt, u.UpdatedAt = hash, now, now
		if err := saveUser(tx, u, "password_hash", "password_changed_at", "updated_at"); err != nil {
			return err
		}
		if err := endSessions(tx, u.Seq, actor.CredentialID); err != nil {
			return err
		}
		return audit.Add(tx, now, audit.Change{Action: "user.password", Subject: u.subject(), After: audit.Values{"password": "changed"}})
	})
}

// ReapSessions deletes up to limit sessions that are no longer active.
func (s *Store) ReapSessions(tx *gorm.DB, limit int) (int64, error) {
	now := s.clock.Now()
	n, err := s.db.DeleteBatch(tx, limit, "sessions", "secret_hash", "expires_at <= ? ORDER BY expires_at", now)
	if err != nil || n == int64(limit) {
		return n, err
	}
	idle, err := s.db.DeleteBatch(tx, limit-int(n), "sessions", "secret_hash", "last_seen_at <= ? ORDER BY last_seen_at", now.Add(-s.opts.IdleTimeout))
	return n + idle, err
}
