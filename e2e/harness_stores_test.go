package e2e

import (
	"context"
	"database/sql"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/glebarez/go-sqlite" // SQLite for database/sql
	"gorm.io/gorm"

	"linkwatch/models"
)

// rows reads the first column of a query in a store that a program left.
func rows(t testing.TB, file, query string) (all []string) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	found, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = found.Close() }()
	for found.Next() {
		var one string
		if err := found.Scan(&one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// newStore makes a store in a new file, to be filled before a program serves it.
func newStore(t *testing.T, file string) (db *models.DB, closeDB func()) {
	t.Helper()
	db, err := models.Open(t.Context(), models.SQLite, file, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Migrate(); err != nil {
		t.Fatal(err)
	}
	return db, func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// shortStore is a new file with n short links, of the keys prefix0000000 and so
// on, that were made two days ago and end at a time (zero = never).
func shortStore(t *testing.T, prefix string, n int, expires time.Time) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "short.db")
	db, closeDB := newStore(t, file)
	defer closeDB()
	addShort(t, db, prefix, n, expires)
	return file
}

func addShort(t *testing.T, db *models.DB, prefix string, n int, expires time.Time) {
	t.Helper()
	var ends any
	if !expires.IsZero() {
		ends = expires.UnixMicro()
	}
	made := time.Now().Add(-48 * time.Hour).UnixMicro()
	err := db.Write(context.Background(), func(tx *gorm.DB) error {
		return tx.Exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?-1),
				l(k, u, at, ends) AS (SELECT ? || printf('%07d', i), 'https://example.com/some/page-' || i || '?of=a-length-that-is-usual',
					? + i, ? + i FROM n)
			INSERT INTO short_links (short_key, long_url, canonical_url, title, folded, max_visits, disabled, created_at, updated_at,
				expires_at, visits, bots)
			SELECT k, u, u, '', k || ' ' || u, 0, 0, at, at, ends, 0, 0 FROM l`, n, prefix, made, ends).Error
	})
	if err != nil {
		t.Fatal(err)
	}
}
