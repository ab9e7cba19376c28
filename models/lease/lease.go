// Package lease keeps one row per running instance, with a heartbeat. All that an
// instance claims, in any queue and any scheduled job, carries the id of its
// lease in a column claimed_by. That column is a foreign key with ON DELETE SET
// NULL: to delete the row of a dead instance frees everything that it held (ADR 13).
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
	// Heartbeat is how often an instance renews its lease and looks for dead ones.
	Heartbeat = 800 * time.Millisecond
	// Duration is for how long after a renewal an instance may begin new work. No
	// other instance takes its claims before.
	Duration = 3 * Heartbeat
	// Takeover is how long after the last renewal of a killed instance its claims
	// are free, at most.
	Takeover = deadAfter * Heartbeat
)

// ErrLost is the error of a claim under a lease that does not exist, or no longer.
var ErrLost = errors.New("the lease of this instance has ended")

// ID names a lease. An instance that lost its lease gets a new id, so what was
// claimed under the old one is never taken for its own. The empty ID is NULL in
// the database: free.
type ID string

// Value implements driver.Valuer.
func (id ID) Value() (driver.Value, error) {
	if id == "" {
		return nil, nil //nolint:nilnil // NULL is the value of "free"
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
		return fmt.Errorf("a lease's id is a %T, want text", src)
	}
	return nil
}

// Lease is the lease of this process. It is safe for concurrent use.
type Lease struct {
	db    *models.DB
	clock models.Clock
	peers peers // of the goroutine that calls Beat

	mu    sync.Mutex
	id    ID              // "" = there is none
	until time.Time       // by the monotonic clock: until when new work may begin
	held  context.Context // ends when id is no longer ours
	lose  context.CancelFunc
}

// New is a lease that begins with the first Beat.
func New(db *models.DB, clock models.Clock) *Lease { return &Lease{db: db.Leases(), clock: clock} }

// Current returns the lease under which new work may begin; ok is false if there
// is none, or if it was not renewed in time. held ends when the lease is lost and
// others may have what was claimed under it; it is nil if there is none. A lease that was only not renewed in time
// is not lost: its claims stay until another instance frees them.
func (l *Lease) Current() (id ID, held context.Context, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.id, l.held, l.id != "" && time.Now().Before(l.until)
}

// Beat renews the lease, or begins a new one if there is none or another instance
// has ended it; then it frees what dead instances held. One goroutine calls it
// once per Heartbeat.
func (l *Lease) Beat(ctx context.Context) error {
	until := time.Now().Add(Duration)
	l.mu.Lock()
	id := l.id
	l.mu.Unlock()
	renewed, err := l.renew(ctx, id)
	if err != nil {
		l.peers = nil // the others may have been unable to renew theirs too
		return fmt.Errorf("renewing the lease of this instance: %w", err)
	}
	l.mu.Lock()
	if renewed != l.id {
		if l.lose != nil {
			l.lose()
		}
		l.id = renewed
		l.held, l.lose = context.WithCancel(context.Background())
	}
	l.until = until
	l.mu.Unlock()
	return l.freeDead(ctx, renewed)
}

// renew extends the lease of an id, and returns that id or the one of a new lease.
func (l *Lease) renew(ctx context.Context, id ID) (renewed ID, err error) {
	err = l.db.Write(ctx, func(tx *gorm.DB) error {
		now := l.clock.Now()
		if renewed = id; id != "" {
			// It must change, also by a clock that stands still or was set back.
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

// End ends the lease and frees all that is claimed under it. Nothing may be under way
// any more.
func (l *Lease) End(ctx context.Context) error {
	l.mu.Lock()
	id := l.id
	if l.lose != nil {
		l.lose()
	}
	l.id, l.held, l.lose = "", nil, nil
	l.mu.Unlock()
	if id == "" {
		return nil
	}
	err := l.db.Write(ctx, func(tx *gorm.DB) error { return tx.Exec("DELETE FROM instances WHERE id = ?", id).Error })
	if err != nil {
		return fmt.Errorf("ending the lease of this instance: %w", err)
	}
	return nil
}

// Hold returns ErrLost unless a lease exists, and keeps it until the end of the
// transaction. A transaction that claims calls it first.
func Hold(tx *gorm.DB, id ID) error {
	sql := "SELECT 1 FROM instances WHERE id = ?"
	if tx.Name() == models.Postgres {
		sql += " FOR KEY SHARE"
	}
	var found int
	if err := tx.Raw(sql, id).Scan(&found).Error; err != nil {
		return fmt.Errorf("looking up the lease of this instance: %w", err)
	}
	if found == 0 {
		return ErrLost
	}
	return nil
}

// Others reports whether another instance was running at a time.
func Others(tx *gorm.DB, id ID, since models.Time) (found bool, err error) {
	err = tx.Raw("SELECT EXISTS (SELECT 1 FROM instances WHERE id <> ? AND heartbeat_at > ?)", id, since).Scan(&found).Error
	if err != nil {
		return false, fmt.Errorf("looking for other instances: %w", err)
	}
	return found, nil
}
