package accounts

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"linkwatch/models"
	"linkwatch/models/audit"
)

// Options configures a Store.
type Options struct {
	Seal func(plain []byte, owner string) ([]byte, error)  // encrypts second-factor keys and provider tokens
	Open func(sealed []byte, owner string) ([]byte, error) // decrypts them
	Sign func(text string) string                          // HMAC for recovery codes and pending logins

	AdminPassword string        // ADMIN_PASSWORD: signs in AdminName, in addition to the account's own password; "" = none
	IdleTimeout   time.Duration // SESSION_IDLE_TIMEOUT
	MaxAge        time.Duration // SESSION_MAX_AGE
	Retention     time.Duration // AUDIT_RETENTION

	Provider      string        // issuer of the identity provider; "" = none
	ProviderRoles bool          // the provider decides the roles of its users at each check, not only at the first
	Recheck       time.Duration // OIDC_RECHECK
}

// Store stores accounts, sessions, API tokens and the audit log. It is safe for concurrent use.
type Store struct {
	db     *models.DB
	clock  models.Clock
	opts   Options
	hasher *hasher
	inUse  atomic.Bool
	first  sync.Mutex // held while the first account is added
	usage  usageBuffer
	items  map[string]audit.Item // see RecordReadsOf
}

// NewStore returns a Store for an open, migrated database. Call RefreshInUse before using it.
func NewStore(db *models.DB, clock models.Clock, opts Options) *Store {
	return &Store{db: db, clock: clock, opts: opts, hasher: newHasher(), usage: usageBuffer{limiter: rate.NewLimiter(failuresPerSecond, maxFailures)}}
}

// Now returns the time of the store's clock.
func (s *Store) Now() models.Time { return s.clock.Now() }

// InUse reports whether there is an account, which makes a login required. It makes no query: Add and RefreshInUse
// update it. Once true, it stays true.
func (s *Store) InUse() bool { return s.inUse.Load() }

// RefreshInUse updates InUse, because another process may have added the first account.
func (s *Store) RefreshInUse(ctx context.Context) error {
	if s.InUse() {
		return nil
	}
	var found bool
	if err := s.db.Read(ctx).Raw("SELECT EXISTS (SELECT 1 FROM users)").Scan(&found).Error; err != nil {
		return fmt.Errorf("find accounts: %w", err)
	}
	if found {
		s.inUse.Store(true)
	}
	return nil
}

// Get returns the account with an ID. The error is CodeNotFound if there is none or it was deleted.
func (s *Store) Get(ctx context.Context, id string) (User, error) {
	if models.CheckID(models.KindUser, id) != nil {
		return User{}, models.NotFound("account")
	}
	return findUser(s.db.Read(ctx).Where("id = ? AND deleted_at IS NULL", id))
}

// ByName returns the account with a username. The error is CodeNotFound if there is none or it was deleted.
func (s *Store) ByName(ctx context.Context, username string) (User, error) {
	u, err := s.ByNameWithDeleted(ctx, username)
	if err == nil && !u.DeletedAt.IsZero() {
		return User{}, models.NotFound("account")
	}
	return u, err
}

// ByNameWithDeleted is ByName that also returns a deleted account.
func (s *Store) ByNameWithDeleted(ctx context.Context, name string) (User, error) {
	name = foldUsername(name)
	if !usernameFormat.MatchString(name) { // PostgreSQL rejects zero bytes
		return User{}, models.NotFound("account")
	}
	return findUser(s.db.Read(ctx).Where("username = ?", name))
}

// BySubject returns the account of a user of an identity provider, even if it was deleted. Of an account that was reaped,
// it compares the hash of the subject. The error is CodeNotFound if there is none.
func (s *Store) BySubject(ctx context.Context, issuer, subject string) (User, error) {
	hash := sha256.Sum256([]byte(subject))
	return findUser(s.db.Read(ctx).Where("oidc_issuer = ? AND (oidc_subject = ? AND oidc_subject <> '' OR oidc_subject_hash = ?)", issuer, subject, hash[:]))
}

// ListOrders are the orders of List.
var ListOrders = models.Orders[User]{
	Field: "created_at", Time: "created_at", ID: "id", Kind: models.KindUser,
	At:   func(u User) models.Cursor { return models.Cursor{CreatedAt: u.CreatedAt, ID: u.ID} },
	More: []models.Order[User]{{Field: "username", Columns: []string{"username"}, Values: func(u User) []any { return []any{u.Username} }}},
}

// List lists the accounts after a cursor, oldest first by default.
func (s *Store) List(ctx context.Context, after models.Cursor, limit int) (models.Slice[User], error) {
	return s.list(ctx, "deleted_at IS NULL", after, limit)
}

// Deleted lists the deleted accounts after a cursor, oldest first by default.
func (s *Store) Deleted(ctx context.Context, after models.Cursor, limit int) (models.Slice[User], error) {
	return s.list(ctx, "deleted_at IS NOT NULL", after, limit)
}

func (s *Store) list(ctx context.Context, which string, after models.Cursor, limit int) (models.Slice[User], error) {
	tx := s.db.Read(ctx)
	return ListOrders.List(tx, models.ListQuery{Table: "users", Where: which}, after, limit, func(p models.ListPart) (found []User, err error) {
		if err = p.Of(tx).Find(&found).Error; err != nil {
			err = fmt.Errorf("list accounts: %w", err)
		}
		return found, err
	})
}

func findUser(q *gorm.DB) (User, error) {
	var users []User
	if err := q.Limit(1).Find(&users).Error; err != nil {
		return User{}, fmt.Errorf("find account: %w", err)
	}
	if len(users) == 0 {
		return User{}, models.NotFound("account")
	}
	return users[0], nil
}

// lockUser reads an account and locks its row. deleted selects whether the account must be deleted or must not be. The
// error is CodeConflict for an actor without a credential, since there are accounts.
func lockUser(tx *gorm.DB, id string, deleted bool) (User, error) {
	if models.CheckID(models.KindUser, id) != nil {
		return User{}, models.NotFound("account")
	}
	u, err := findUser(tx.Clauses(clause.Locking{Strength: "UPDATE"}).Where("id = ?", id))
	switch {
	case err != nil:
		return User{}, err
	case u.DeletedAt.IsZero() == deleted:
		return User{}, models.NotFound("account")
	case isOpen(tx.Statement.Context):
		return User{}, errInUse()
	}
	return u, nil
}

func saveUser(tx *gorm.DB, u User, columns ...string) error {
	if err := tx.Model(&u).Select(columns).Updates(&u).Error; err != nil {
		if errors.Is(err, gorm.ErrDuplicatedKey) {
			return models.Conflict("This account already exists.")
		}
		return fmt.Errorf("update account: %w", err)
	}
	return nil
}
