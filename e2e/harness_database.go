package e2e

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sqlite "github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/ext/fts5"
	"gorm.io/gorm"

	"linkwatch/models"
)

// OpenDatabase opens a database, an SQLite file or the URL of PostgreSQL, for a test that fills it before a program
// serves it. It creates the file and the schema if they are missing. The caller closes the database.
func OpenDatabase(t testing.TB, url string) (db *models.DB, closeDB func()) {
	t.Helper()
	driver := models.SQLite
	if strings.HasPrefix(url, "postgres://") {
		driver = models.Postgres
	}
	db, err := models.Open(t.Context(), driver, url, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db, func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// ShortLinkFile returns a new SQLite file with short links, as AddShortLinks adds them.
func ShortLinkFile(t testing.TB, prefix string, n int, expires time.Time) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "short.db")
	db, closeDB := OpenDatabase(t, file)
	defer closeDB()
	AddShortLinks(t, db, prefix, n, expires)
	return file
}

// AddShortLinks adds n short links with the keys prefix0000000, prefix0000001 and so on, created two days ago. The
// first expires at expires (zero: never), each of the others a microsecond after the one before.
func AddShortLinks(t testing.TB, db *models.DB, prefix string, n int, expires time.Time) {
	t.Helper()
	var ends any
	if !expires.IsZero() {
		ends = expires.UnixMicro()
	}
	made := time.Now().Add(-48 * time.Hour).UnixMicro()
	err := db.Write(context.Background(), func(tx *gorm.DB) error {
		err := tx.Exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?-1),
				l(k, u, at, ends) AS (SELECT CAST(? AS TEXT) || substr(CAST(10000000 + i AS TEXT), 2), 'https://example.com/some/page-' || i || CAST(? AS TEXT),
					CAST(? AS BIGINT) + i, CAST(? AS BIGINT) + i FROM n)
			INSERT INTO short_links (short_key, long_url, canonical_url, title, search_text, max_visits, disabled, created_at, updated_at,
				version, expires_at, visits, bots)
			SELECT k, u, u, '', k || ' ' || u, 0, false, at, at, at, ends, 0, 0 FROM l`, n, prefix, "?of=a-length-that-is-usual", made, ends).Error
		if err != nil {
			return err
		}
		return tx.Exec("UPDATE short_link_version SET newest = (SELECT max(version) FROM short_links)").Error
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Rows returns the first column of a query on an SQLite file, as text.
func Rows(t testing.TB, file, query string) (all []string) {
	t.Helper()
	db, err := sqlite.Open(file, fts5.Register)
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
