package accounts

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
)

// Options are the settings of the store.
type Options struct {
	Seal func(plain []byte, of string) ([]byte, error)  // encrypts the keys of second factors
	Open func(sealed []byte, of string) ([]byte, error) // decrypts them
	Sign func(text string) string                       // HMAC for recovery codes and pending logins

	AdminPassword string        // ADMIN_PASSWORD: signs in AdminName, beside a password of its own; "" = none
	IdleTimeout   time.Duration // SESSION_IDLE_TIMEOUT
	MaxAge        time.Duration // SESSION_MAX_AGE
	Retention     time.Duration // AUDIT_RETENTION
}

// Store keeps accounts, sessions and tokens. It is safe for concurrent use.
type Store struct {
	db     *models.DB
	clock  models.Clock
	opts   Options
	hasher *hasher
	inUse  atomic.Bool
	seen   seen
}

// NewStore makes the store over an open, migrated database. Call Look before it is used.
func NewStore(db *models.DB, clock models.Clock, opts Options) *Store {
	return &Store{db: db, clock: clock, opts: opts, hasher: newHasher(), seen: seen{entries: rate.NewLimiter(failuresPerSecond, maxFailures)}}
}

// Now is the time by the store's clock.
func (s *Store) Now() models.Time { return s.clock.Now() }

// InUse reports whether there is an account, so that everybody has to sign in. It stays
// true once it was. It asks no database: see Look.
func (s *Store) InUse() bool { return s.inUse.Load() }

// Look finds out whether another process has added the first account.
func (s *Store) Look(ctx context.Context) error {
	if s.InUse() {
		return nil
	}
	var found bool
	if err := s.db.Read(ctx).Raw("SELECT EXISTS (SELECT 1 FROM users)").Scan(&found).Error; err != nil {
		return fmt.Errorf("looking for accounts: %w", err)
	}
	if found {
		s.inUse.Store(true)
	}
	return nil
}

// Get is one account; CodeNotFound if there is none.
func (s *Store) Get(ctx context.Context, id string) (User, error) {
	if models.CheckID(models.KindUser, id) != nil {
		return User{}, models.NotFound("account")
	}
	return one(s.db.Read(ctx).Where("id = ? AND deleted_at IS NULL", id))
}

// ByName is the account of a username; CodeNotFound if there is none.
func (s *Store) ByName(ctx context.Context, username string) (User, error) {
	u, err := s.Known(ctx, username)
	if err == nil && !u.DeletedAt.IsZero() {
		return User{}, models.NotFound("account")
	}
	return u, err
}

// Known is ByName that finds an account that is disabled or was deleted as well.
func (s *Store) Known(ctx context.Context, name string) (User, error) {
	name = foldUsername(name)
	if !username.MatchString(name) { // PostgreSQL takes no text with a zero byte
		return User{}, models.NotFound("account")
	}
	return one(s.db.Read(ctx).Where("username = ?", name))
}

// BySubject is the account of a user of an identity provider, also one that was deleted; CodeNotFound if there is none.
func (s *Store) BySubject(ctx context.Context, issuer, subject string) (User, error) {
	return one(s.db.Read(ctx).Where("oidc_issuer = ? AND oidc_subject = ?", issuer, subject))
}

// List are the accounts after a cursor, in the order of their creation.
func (s *Store) List(ctx context.Context, after models.Cursor, limit int) (models.Slice[User], error) {
	var users []User
	q := s.db.Read(ctx).Where("deleted_at IS NULL").Order("created_at, id").Limit(limit + 1)
	if after.ID != "" {
		q = q.Where("(created_at, id) > (?, ?)", after.CreatedAt, after.ID)
	}
	if err := q.Find(&users).Error; err != nil {
		return models.Slice[User]{}, fmt.Errorf("listing accounts: %w", err)
	}
	return models.NewSlice(users, limit, func(u User) models.Cursor { return models.Cursor{CreatedAt: u.CreatedAt, ID: u.ID} }), nil
}

func one(q *gorm.DB) (User, error) {
	var users []User
	if err := q.Limit(1).Find(&users).Error; err != nil {
		return User{}, fmt.Errorf("loading an account: %w", err)
	}
	if len(users) == 0 {
		return User{}, models.NotFound("account")
	}
	return users[0], nil
}

// lock loads an account for a change.
func lock(tx *gorm.DB, id string, deleted bool) (User, error) {
	if models.CheckID(models.KindUser, id) != nil {
		return User{}, models.NotFound("account")
	}
	u, err := one(tx.Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ?", id))
	if err == nil && u.DeletedAt.IsZero() == deleted {
		return User{}, models.NotFound("account")
	}
	return u, err
}

func save(tx *gorm.DB, u User, columns ...string) error {
	if err := tx.Model(&u).Select(columns).Updates(&u).Error; err != nil {
		if errors.Is(err, gorm.ErrDuplicatedKey) {
			return models.Conflict("This account exists.")
		}
		return fmt.Errorf("storing an account: %w", err)
	}
	return nil
}
