// Package lease keeps one row per running instance, with a heartbeat. Every item of a
// queue and every scheduled job that an instance claims has the id of its lease in the
// column claimed_by. That column is a foreign key with ON DELETE SET NULL: deleting the
// row of a dead instance releases all its claims (ADR 13).
package lease

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

const (
	// Heartbeat is how often an instance renews its lease and checks for dead instances.
	Heartbeat = 800 * time.Millisecond
	// Duration is how long after a renewal an instance may start new work. Its claims
	// are not released earlier.
	Duration = 3 * Heartbeat
	// Takeover is the longest time from the last renewal of a killed instance until its
	// claims are released.
	Takeover = deadAfter * Heartbeat
)

// ErrLost is the error of a claim under a lease that does not exist.
var ErrLost = errors.New("the lease of this instance has ended")

// ID is the id of a lease. An instance that lost its lease gets a new id, so that it
// does not continue work that it claimed under the old one. The empty ID is NULL in
// the database: not claimed.
type ID string

// Value implements driver.Valuer.
func (id ID) Value() (driver.Value, error) {
	if id == "" {
		return nil, nil //nolint:nilnil // NULL means "not claimed"
	}
	return string(id), nil
}

// Scan implements sql.Scanner.
func (id *ID) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*id = ""
	case string:
		*id = ID(v)
	case []byte:
		*id = ID(v)
	default:
		return fmt.Errorf("lease id has a %T, want text", src)
	}
	return nil
}

// Lease is the lease of this process. It is safe for concurrent use.
type Lease struct {
	db    *models.DB
	clock models.Clock
	peers peers // used only by the goroutine that calls Beat

	mu     sync.Mutex
	id     ID              // "" = no lease
	until  time.Time       // when new work may no longer start; monotonic
	leased context.Context // ends when the lease is lost
	lose   context.CancelFunc
}

// New returns a lease that starts with the first Beat.
func New(db *models.DB, clock models.Clock) *Lease { return &Lease{db: db.Leases(), clock: clock} }

// Current returns the lease. ok reports whether new work may start under it: it is false
// without a lease, or if the lease was not renewed in time. leased ends when the lease is
// lost, because other instances may then claim its items; it is nil without a lease. A
// lease that was not renewed in time is not lost until another instance releases its claims.
func (l *Lease) Current() (id ID, leased context.Context, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.id, l.leased, l.id != "" && time.Now().Before(l.until)
}

// Beat renews the lease, or starts a new one if there is none or another instance has
// ended it. Then it releases the claims of dead instances. Only one goroutine may call it,
// once per Heartbeat.
func (l *Lease) Beat(ctx context.Context) error {
	until := time.Now().Add(Duration)
	l.mu.Lock()
	id := l.id
	l.mu.Unlock()
	renewed, err := l.renew(ctx, id)
	if err != nil {
		l.peers = nil // other instances may have failed to renew too
		return fmt.Errorf("renew lease: %w", err)
	}
	l.mu.Lock()
	if renewed != l.id {
		if l.lose != nil {
			l.lose()
		}
		l.id = renewed
		l.leased, l.lose = context.WithCancel(context.Background())
	}
	l.until = until
	l.mu.Unlock()
	return l.releaseDead(ctx, renewed)
}

// renew renews a lease and returns its id, or the id of a new lease.
func (l *Lease) renew(ctx context.Context, id ID) (renewed ID, err error) {
	err = l.db.Write(ctx, func(tx *gorm.DB) error {
		now := l.clock.Now()
		if renewed = id; id != "" {
			// The value must change even if the clock was set back.
			res := tx.Exec("UPDATE instances SET heartbeat_at = CASE WHEN heartbeat_at < ? THEN ? ELSE heartbeat_at + 1 END WHERE id = ?", now, now, id)
			if res.Error != nil || res.RowsAffected > 0 {
				return res.Error
			}
		}
		renewed = ID(models.NewID(models.KindInstance))
		return tx.Exec("INSERT INTO instances (id, started_at, heartbeat_at) VALUES (?, ?, ?)", renewed, now, now).Error
	})
	return renewed, err
}

// End ends the lease and releases its claims. No work may run under it anymore.
func (l *Lease) End(ctx context.Context) error {
	l.mu.Lock()
	id := l.id
	if l.lose != nil {
		l.lose()
	}
	l.id, l.leased, l.lose = "", nil, nil
	l.mu.Unlock()
	if id == "" {
		return nil
	}
	err := l.db.Write(ctx, func(tx *gorm.DB) error { return tx.Exec("DELETE FROM instances WHERE id = ?", id).Error })
	if err != nil {
		return fmt.Errorf("end lease: %w", err)
	}
	return nil
}

// Hold returns ErrLost unless the lease exists, and locks it until the end of the
// transaction. A transaction that claims items calls it first.
func Hold(tx *gorm.DB, id ID) error {
	sql := "SELECT 1 FROM instances WHERE id = ?"
	if tx.Name() == models.Postgres {
		sql += " FOR KEY SHARE"
	}
	var found int
	if err := tx.Raw(sql, id).Scan(&found).Error; err != nil {
		return fmt.Errorf("read lease: %w", err)
	}
	if found == 0 {
		return ErrLost
	}
	return nil
}

// Others reports whether another instance has had a heartbeat after since.
func Others(tx *gorm.DB, id ID, since models.Time) (found bool, err error) {
	err = tx.Raw("SELECT EXISTS (SELECT 1 FROM instances WHERE id <> ? AND heartbeat_at > ?)", id, since).Scan(&found).Error
	if err != nil {
		return false, fmt.Errorf("look for other instances: %w", err)
	}
	return found, nil
}
