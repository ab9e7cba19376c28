// Package modelstest has helpers for tests with a database: a new, migrated database of
// each engine, a clock that the test moves, and counts of queries.
package modelstest

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/lease"
)

// New returns a new SQLite database in a temporary folder of the test.
func New(t testing.TB) *models.DB {
	t.Helper()
	migrated, err := sqliteTemplate()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "test.db")
	if err := os.WriteFile(file, migrated, 0o600); err != nil {
		t.Fatal(err)
	}
	return open(t, models.SQLite, file)
}

// Each runs a test on every engine, with a new database that has the current schema.
// For PostgreSQL it needs TEST_POSTGRES_URL, see NewPostgres. Both runs are parallel with
// each other and with other tests, so a test must not change shared state.
func Each(t *testing.T, test func(t *testing.T, db *models.DB)) {
	t.Helper()
	t.Parallel()
	t.Run(models.SQLite, func(t *testing.T) {
		t.Parallel()
		test(t, New(t))
	})
	t.Run(models.Postgres, func(t *testing.T) {
		t.Parallel()
		test(t, open(t, models.Postgres, copyPostgres(t)))
	})
}

// EachEmpty is like Each, with databases that have no schema.
func EachEmpty(t *testing.T, test func(t *testing.T, db *models.DB)) {
	t.Helper()
	t.Parallel()
	t.Run(models.SQLite, func(t *testing.T) {
		t.Parallel()
		test(t, open(t, models.SQLite, filepath.Join(t.TempDir(), "test.db")))
	})
	t.Run(models.Postgres, func(t *testing.T) {
		t.Parallel()
		test(t, open(t, models.Postgres, NewPostgres(t)))
	})
}

func open(t testing.TB, engine, url string) *models.DB {
	t.Helper()
	db, err := models.Open(context.Background(), engine, url, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		checkRowCounts(t, db)
		if err := db.Close(); err != nil {
			t.Error("close database:", err)
		}
	})
	return db
}

// sqliteTemplate returns the content of a new SQLite file with the current schema. Copying
// it is faster than migrating a database for each test.
var sqliteTemplate = sync.OnceValues(func() (database []byte, err error) {
	dir, err := os.MkdirTemp("", "linkwatch-template-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "template.db")
	if err := migrate(models.SQLite, file); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

// migrate upgrades a database to the current schema.
func migrate(engine, url string) error {
	db, err := models.Open(context.Background(), engine, url, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return errors.Join(db.Migrate(context.Background()), db.Close())
}

// Exec changes the database directly, without the stores.
func Exec(t testing.TB, db *models.DB, sql string, args ...any) {
	t.Helper()
	err := db.Write(context.Background(), func(tx *gorm.DB) error { return tx.Exec(sql, args...).Error })
	if err != nil {
		t.Fatal(err)
	}
}

// Lease returns the lease of the instance with this name, and creates it at the first call.
// Nothing renews it.
func Lease(t testing.TB, db *models.DB, name string) lease.ID {
	t.Helper()
	Exec(t, db, "INSERT INTO instances (id, started_at, heartbeat_at) VALUES (?, 1, 1) ON CONFLICT DO NOTHING", name)
	return lease.ID(name)
}

// UseUp uses all PostgreSQL connections except those of Urgent and Leases until release is
// called or the test ends. On SQLite it does nothing.
func UseUp(t testing.TB, db *models.DB) (release func()) {
	t.Helper()
	if db.Engine != models.Postgres {
		return func() {}
	}
	unblock := make(chan struct{})
	var used sync.WaitGroup
	for range 100 {
		used.Go(func() { // some wait for a connection
			if err := db.Write(context.Background(), func(*gorm.DB) error { <-unblock; return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	release = sync.OnceFunc(func() { close(unblock); used.Wait() })
	t.Cleanup(release)
	Eventually(t, "all connections are used", func() bool {
		short, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		return db.Ping(short) != nil
	})
	return release
}

// Hold locks a table until release is called. On SQLite it blocks writers to all tables, on
// PostgreSQL writers and readers of this table.
func Hold(t testing.TB, db *models.DB, table string) (release func()) {
	t.Helper()
	locked, unblock, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	rollback := errors.New("rollback")
	go func() {
		done <- db.Write(context.Background(), func(tx *gorm.DB) error {
			if db.Engine == models.Postgres {
				if err := tx.Exec("LOCK TABLE " + table + " IN ACCESS EXCLUSIVE MODE").Error; err != nil {
					return err
				}
			}
			close(locked)
			<-unblock
			return rollback
		})
	}()
	select {
	case <-locked:
	case err := <-done:
		t.Fatal(err)
	}
	return func() {
		close(unblock)
		if err := <-done; !errors.Is(err, rollback) {
			t.Error(err)
		}
	}
}
