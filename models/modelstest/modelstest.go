// Package modelstest gives tests a store: a fresh, migrated database of each
// engine, a clock that stands still, and a count of the queries made.
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

// New returns a fresh SQLite store in a folder of the test's own.
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

// Each runs a test on every engine, with a database that has the current schema.
// It runs on PostgreSQL where TEST_POSTGRES_URL names a server, as NewPostgres says.
// The two run at the same time and beside other tests (t.Parallel), so a test may
// change nothing that it shares with others.
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

// EachEmpty is Each with databases that have no schema yet.
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
		if err := db.Close(); err != nil {
			t.Error("closing the store:", err)
		}
	})
	return db
}

// sqliteTemplate returns the file of a new SQLite database with the current
// schema. Tests copy it, which is faster than to migrate a database for each.
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

// migrate gives a database the current schema.
func migrate(engine, url string) error {
	db, err := models.Open(context.Background(), engine, url, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return errors.Join(db.Migrate(), db.Close())
}

// Exec changes the database past the stores, as to break what they rely on.
func Exec(t testing.TB, db *models.DB, sql string, args ...any) {
	t.Helper()
	err := db.Write(context.Background(), func(tx *gorm.DB) error { return tx.Exec(sql, args...).Error })
	if err != nil {
		t.Fatal(err)
	}
}

// Lease is the lease of an instance of that name, which begins with the first
// call. Nothing renews it.
func Lease(t testing.TB, db *models.DB, name string) lease.ID {
	t.Helper()
	Exec(t, db, "INSERT INTO instances (id, started_at, heartbeat_at) VALUES (?, 1, 1) ON CONFLICT DO NOTHING", name)
	return lease.ID(name)
}

// UseUp leaves no connection of PostgreSQL for others than those of Urgent and Leases, until
// release is called or the test ends. On SQLite it does nothing.
func UseUp(t testing.TB, db *models.DB) (release func()) {
	t.Helper()
	if db.Engine != models.Postgres {
		return func() {}
	}
	let := make(chan struct{})
	var used sync.WaitGroup
	for range 100 {
		used.Go(func() { // those that get no connection wait for one
			if err := db.Write(context.Background(), func(*gorm.DB) error { <-let; return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	release = sync.OnceFunc(func() { close(let); used.Wait() })
	t.Cleanup(release)
	Eventually(t, "all connections are used", func() bool {
		short, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		return db.Ping(short) != nil
	})
	return release
}

// Hold locks a table until release is called. On SQLite that blocks writers only,
// on PostgreSQL readers too.
func Hold(t testing.TB, db *models.DB, table string) (release func()) {
	t.Helper()
	held, let, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	undo := errors.New("nothing is to be kept")
	go func() {
		done <- db.Write(context.Background(), func(tx *gorm.DB) error {
			if db.Engine == models.Postgres {
				if err := tx.Exec("LOCK TABLE " + table + " IN ACCESS EXCLUSIVE MODE").Error; err != nil {
					return err
				}
			}
			close(held)
			<-let
			return undo
		})
	}()
	select {
	case <-held:
	case err := <-done:
		t.Fatal(err)
	}
	return func() {
		close(let)
		if err := <-done; !errors.Is(err, undo) {
			t.Error(err)
		}
	}
}
