package accounts

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// The ways to sign in.
const (
	MethodPassword = "password"
	MethodOIDC     = "oidc"
)

// maxSessions bounds the sessions of an account: a further login ends the one that was not
// used for the longest time.
const maxSessions = 100

// Session is a login.
type Session struct {
	SecretHash []byte `gorm:"primaryKey"`
	ID         string
	UserSeq    int64
	Method     string
	Address    string // of the client when it signed in
	Device     string // "Firefox on Linux"; "" = unknown
	CreatedAt  models.Time
	LastSeenAt models.Time // to the minute
	ExpiresAt  models.Time // however much it is used
}

// Client is the browser that signs in.
type Client struct{ Address, Device string }

// newSecret is a random text of 130 bits that no one can guess.
func newSecret() string { return rand.Text() }

// hashOf is the stored form of a random secret. It needs no salt and no slow hash, since
// there is nothing to guess.
func hashOf(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// Begin signs an account in and returns the secret of its session, which is stored nowhere.
// old is the secret of a session that ends with it, "" = none: a secret that somebody else
// has put into the browser opens nothing. The audit log gets the actor of ctx.
func (s *Store) Begin(ctx context.Context, u User, method string, from Client, old string) (secret string, err error) {
	now, secret := s.clock.Now(), newSecret()
	row := Session{
		SecretHash: hashOf(secret), ID: models.NewID(models.KindSession), UserSeq: u.Seq, Method: method,
		Address: from.Address, Device: from.Device, CreatedAt: now, LastSeenAt: now, ExpiresAt: now.Add(s.opts.MaxAge),
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		verified := u
		u, err := lock(tx, u.ID, false)
		if err != nil {
			return err
		}
		if u.Disabled || method == MethodPassword && u.PasswordHash != verified.PasswordHash { // it was changed since
			return ErrWrongLogin
		}
		if old != "" {
			if err := tx.Exec("DELETE FROM sessions WHERE secret_hash = ?", hashOf(old)).Error; err != nil {
				return fmt.Errorf("ending a session: %w", err)
			}
		}
		if err := tx.Exec(`DELETE FROM sessions WHERE secret_hash IN (SELECT secret_hash FROM sessions WHERE user_seq = ?
			ORDER BY last_seen_at DESC, secret_hash LIMIT ? OFFSET ?)`, u.Seq, maxSessions, maxSessions-1).Error; err != nil {
			return fmt.Errorf("ending sessions: %w", err)
		}
		if err := tx.Create(&row).Error; err != nil {
			return fmt.Errorf("storing a session: %w", err)
		}
		u.LastLoginAt = now
		if err := save(tx, u, "last_login_at"); err != nil {
			return err
		}
		return audit.Add(tx, now, audit.Change{Action: "login", Subject: u.subject(), After: audit.Values{"session": row.ID, "method": method, "device": from.Device}})
	})
	return secret, err
}

// Opened is who a secret belongs to.
type Opened struct {
	User
	Session Session // zero for a token
	Token   Token   // zero for a session
}

// BySession returns whose session a secret is; ok is false if it is none, if it was not used
// for too long or is too old, or if the account is disabled. It takes one query.
func (s *Store) BySession(ctx context.Context, secret string) (o Opened, ok bool, err error) {
	var found []struct {
		User    `gorm:"embedded"`
		Session `gorm:"embedded;embeddedPrefix:s_"`
	}
	err = s.db.Read(ctx).Raw(`SELECT u.*, s.id AS s_id, s.method AS s_method, s.address AS s_address, s.device AS s_device,
		s.created_at AS s_created_at, s.last_seen_at AS s_last_seen_at, s.expires_at AS s_expires_at, s.user_seq AS s_user_seq
		FROM sessions AS s JOIN users AS u ON u.seq = s.user_seq WHERE s.secret_hash = ?`, hashOf(secret)).Scan(&found).Error
	if err != nil || len(found) == 0 {
		return Opened{}, false, wrap("looking for a session", err)
	}
	o = Opened{User: found[0].User, Session: found[0].Session}
	now := s.clock.Now()
	if o.Disabled || !o.DeletedAt.IsZero() || !s.alive(o.Session, now) {
		return Opened{}, false, nil
	}
	s.seen.session(o.Session, now)
	return o, true, nil
}

// alive reports whether a session has not ended.
func (s *Store) alive(one Session, now models.Time) bool {
	return now.Before(one.ExpiresAt.Time) && now.Before(one.LastSeenAt.Add(s.opts.IdleTimeout).Time)
}

func wrap(doing string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// Sessions are those of an account that have not ended, the newest first.
func (s *Store) Sessions(ctx context.Context, u User) ([]Session, error) {
	var all []Session
	now := s.clock.Now()
	err := s.db.Read(ctx).Where("user_seq = ? AND expires_at > ? AND last_seen_at > ?", u.Seq, now, now.Add(-s.opts.IdleTimeout)).
		Order("created_at DESC, id DESC").Limit(maxSessions).Find(&all).Error
	return all, wrap("listing sessions", err)
}

// KnownFrom reports whether an account has a session that began at an address and has not ended.
func (s *Store) KnownFrom(ctx context.Context, username, address string) (known bool, err error) {
	now := s.clock.Now()
	err = s.db.Read(ctx).Raw(`SELECT EXISTS (SELECT 1 FROM sessions WHERE address = ? AND expires_at > ? AND last_seen_at > ? AND user_seq = (SELECT seq FROM users WHERE username = ?))`,
		address, now, now.Add(-s.opts.IdleTimeout), foldUsername(username)).Scan(&known).Error
	return known, wrap("looking for sessions", err)
}

// End ends the session of the actor of ctx, who signs out.
func (s *Store) End(ctx context.Context) error {
	actor, _ := models.ActorOf(ctx)
	now := s.clock.Now()
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Exec("DELETE FROM sessions WHERE id = ?", actor.Of).Error; err != nil {
			return fmt.Errorf("ending a session: %w", err)
		}
		return audit.Add(tx, now, audit.Change{Action: "logout", Subject: audit.Subject{Kind: "user", ID: actor.ID, Name: actor.Name}})
	})
}

// EndOne ends a session of an account; CodeNotFound if it has none of that id.
func (s *Store) EndOne(ctx context.Context, u User, id string) error {
	if models.CheckID(models.KindSession, id) != nil {
		return models.NotFound("session")
	}
	now := s.clock.Now()
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		res := tx.Exec("DELETE FROM sessions WHERE user_seq = ? AND id = ?", u.Seq, id)
		if res.Error != nil {
			return fmt.Errorf("ending a session: %w", res.Error)
		}
		if res.RowsAffected == 0 {
			return models.NotFound("session")
		}
		return audit.Add(tx, now, audit.Change{Action: "session.end", Subject: u.subject(), Before: audit.Values{"session": id}})
	})
}

// EndAll signs an account out everywhere.
func (s *Store) EndAll(ctx context.Context, u User) error {
	now := s.clock.Now()
	return s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := endSessions(tx, u.Seq, ""); err != nil {
			return err
		}
		return audit.Add(tx, now, audit.Change{Action: "session.end_all", Subject: u.subject()})
	})
}

// endSessions ends the sessions of an account, but for that of an id; "" = all.
func endSessions(tx *gorm.DB, userSeq int64, but string) error {
	return wrap("ending sessions", tx.Exec("DELETE FROM sessions WHERE user_seq = ? AND id <> ?", userSeq, but).Error)
}

// ChangePassword gives an account a new password and ends its sessions, but for that of the
// actor of ctx. The error is CodeInvalid for a current password that is wrong.
func (s *Store) ChangePassword(ctx context.Context, u User, current, password string) error {
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
		u, err := lock(tx, u.ID, false)
		if err != nil {
			return err
		}
		u.PasswordHash, u.PasswordChangedAt, u.UpdatedAt = hash, now, now
		if err := save(tx, u, "password_hash", "password_changed_at", "updated_at"); err != nil {
			return err
		}
		if err := endSessions(tx, u.Seq, actor.Of); err != nil {
			return err
		}
		return audit.Add(tx, now, audit.Change{Action: "user.password", Subject: u.subject(), After: audit.Values{"password": "changed"}})
	})
}

// ReapSessions deletes up to limit sessions that have ended.
func (s *Store) ReapSessions(tx *gorm.DB, limit int) (int64, error) {
	now := s.clock.Now()
	n, err := s.db.DeleteBatch(tx, limit, "sessions", "secret_hash", "expires_at <= ? ORDER BY expires_at", now)
	if err != nil || n == int64(limit) {
		return n, err
	}
	idle, err := s.db.DeleteBatch(tx, limit-int(n), "sessions", "secret_hash", "last_seen_at <= ? ORDER BY last_seen_at", now.Add(-s.opts.IdleTimeout))
	return n + idle, err
}
