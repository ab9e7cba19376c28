package models

import (
	"fmt"
	"strings"

	"gorm.io/gorm"
)

// KeepKeys is how long an Idempotency-Key is remembered.
const KeepKeys = Day

const maxKey = 255 // bytes

// Keys are the Idempotency-Keys of one kind of resource. They are
// used within the transaction that makes the resource: Claim, then make it,
// then Keep; if any of it fails, all of it is taken back. Each actor that has
// signed in has keys of its own.
type Keys struct {
	Scope string // what is created with the key, in the singular: "note"
	Clock Clock
}

// scope is what the column of that name holds in a transaction. Keys of different actors are
// different keys, so no one is given what a key of another has made.
func (k Keys) scope(tx *gorm.DB) string {
	if a, ok := ActorOf(tx.Statement.Context); ok && a.Via != "" {
		return k.Scope + ":" + a.Name
	}
	return k.Scope
}

// Claim takes a key for the resource that the transaction is about to make.
// known is the id of the one that it made before, "" if there is none. Of
// transactions that claim the same key at once, one goes first and the others
// wait until it is over. A malformed key is CodeInvalid.
func (k Keys) Claim(tx *gorm.DB, key string) (known string, err error) {
	if len(key) > maxKey || strings.ContainsFunc(key, func(r rune) bool { return r < '!' || r > '~' }) {
		return "", Invalid("header.Idempotency-Key", "must be 1 to %d visible ASCII characters", maxKey)
	}
	scope, now := k.scope(tx), k.Clock.Now()
	err = tx.Exec("DELETE FROM idempotency_keys WHERE scope = ? AND key = ? AND created_at <= ?", scope, key, now.Add(-KeepKeys)).Error
	if err != nil {
		return "", fmt.Errorf("forgetting an idempotency key: %w", err)
	}
	res := tx.Exec("INSERT INTO idempotency_keys (scope, key, resource_id, created_at) VALUES (?, ?, '', ?) ON CONFLICT DO NOTHING", scope, key, now)
	if res.Error != nil {
		return "", fmt.Errorf("claiming an idempotency key: %w", res.Error)
	}
	if res.RowsAffected > 0 {
		return "", nil
	}
	err = tx.Raw("SELECT resource_id FROM idempotency_keys WHERE scope = ? AND key = ?", scope, key).Scan(&known).Error
	if err != nil {
		return "", fmt.Errorf("reading an idempotency key: %w", err)
	}
	return known, nil
}

// Keep stores which resource a claimed key has made.
func (k Keys) Keep(tx *gorm.DB, key, resourceID string) error {
	err := tx.Exec("UPDATE idempotency_keys SET resource_id = ? WHERE scope = ? AND key = ?", resourceID, k.scope(tx), key).Error
	if err != nil {
		return fmt.Errorf("keeping an idempotency key: %w", err)
	}
	return nil
}

// ReapKeys deletes up to limit keys, of every scope, that are no longer
// remembered (models/cleanup.Remove).
func (db *DB) ReapKeys(clock Clock) func(tx *gorm.DB, limit int) (int64, error) {
	return func(tx *gorm.DB, limit int) (int64, error) {
		return db.DeleteBatch(tx, limit, "idempotency_keys", "scope, key", "created_at <= ? ORDER BY created_at", clock.Now().Add(-KeepKeys))
	}
}
