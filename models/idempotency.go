package models

import (
	"fmt"
	"strings"

	"gorm.io/gorm"
)

// KeyRetention is how long an Idempotency-Key is stored.
const KeyRetention = Day

const maxKey = 255 // bytes

// Keys stores the Idempotency-Keys of one kind of resource. Use it in the transaction that creates the resource:
// Claim the key, create the resource, then Save the key. Each signed-in actor has separate keys.
type Keys struct {
	Scope string // the resource that is created, in the singular: "note"
	Clock Clock
}

// scope returns the value of the column scope. Each actor has its own scope, so that no actor gets the resource of
// another.
func (k Keys) scope(tx *gorm.DB) string {
	if a, ok := ActorOf(tx.Statement.Context); ok && a.Via != "" {
		return k.Scope + ":" + a.Name
	}
	return k.Scope
}

// Claim claims a key for the resource that the transaction is about to create. known is the id of the resource
// that was created with the key before, or "". Concurrent transactions with the same key wait for each other. A
// malformed key is CodeInvalid.
func (k Keys) Claim(tx *gorm.DB, key string) (known string, err error) {
	if len(key) > maxKey || strings.ContainsFunc(key, func(r rune) bool { return r < '!' || r > '~' }) {
		return "", Invalid("header.Idempotency-Key", "must be 1 to %d visible ASCII characters", maxKey)
	}
	scope, now := k.scope(tx), k.Clock.Now()
	err = tx.Exec("DELETE FROM idempotency_keys WHERE scope = ? AND key = ? AND created_at <= ?", scope, key, now.Add(-KeyRetention)).Error
	if err != nil {
		return "", fmt.Errorf("delete expired idempotency key: %w", err)
	}
	res := tx.Exec("INSERT INTO idempotency_keys (scope, key, resource_id, created_at) VALUES (?, ?, '', ?) ON CONFLICT DO NOTHING", scope, key, now)
	if res.Error != nil {
		return "", fmt.Errorf("claim idempotency key: %w", res.Error)
	}
	if res.RowsAffected > 0 {
		return "", nil
	}
	err = tx.Raw("SELECT resource_id FROM idempotency_keys WHERE scope = ? AND key = ?", scope, key).Scan(&known).Error
	if err != nil {
		return "", fmt.Errorf("read idempotency key: %w", err)
	}
	return known, nil
}

// Save stores the id of the resource created with a claimed key.
func (k Keys) Save(tx *gorm.DB, key, resourceID string) error {
	err := tx.Exec("UPDATE idempotency_keys SET resource_id = ? WHERE scope = ? AND key = ?", resourceID, k.scope(tx), key).Error
	if err != nil {
		return fmt.Errorf("store idempotency key: %w", err)
	}
	return nil
}

// ReapKeys returns a cleanup.Remove function that deletes expired keys of all scopes.
func (db *DB) ReapKeys(clock Clock) func(tx *gorm.DB, limit int) (int64, error) {
	return func(tx *gorm.DB, limit int) (int64, error) {
		return db.DeleteBatch(tx, limit, "idempotency_keys", "scope, key", "created_at <= ? ORDER BY created_at", clock.Now().Add(-KeyRetention))
	}
}
