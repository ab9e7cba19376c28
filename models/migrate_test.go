package models_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-migrate/migrate/v4"
	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

func TestMigrations(t *testing.T) {
	modelstest.EachEmpty(t, func(t *testing.T, db *models.DB) {
		ctx := context.Background()
		if err := db.Ready(ctx); err == nil {
			t.Fatal("a database without a schema is ready")
		}
		if err := db.MigrateDown(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "no migrations to revert") {
			t.Error("down without a schema:", err)
		}
		for range 2 { // the second round runs on what going down left behind
			for range 2 { // migrating what is migrated changes nothing
				if err := db.Migrate(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Ready(ctx); err != nil {
				t.Fatal(err)
			}
			if err := db.MigrateDown(t.Context(), 99); err == nil || !strings.Contains(err.Error(), "cannot revert 99 migrations") || db.Ready(ctx) != nil {
				t.Fatal("more steps down than there are:", err)
			}
			if err := db.MigrateDown(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			if err := db.Ready(ctx); err == nil {
				t.Fatal("ready after going all the way down")
			}
			if err := db.MigrateDown(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "no migrations to revert") {
				t.Fatal("down from the bottom:", err)
			}
		}

		// A program that is older than the database says so.
		err := db.Migrate(t.Context())
		if err == nil {
			err = db.Write(ctx, func(tx *gorm.DB) error { return tx.Exec("UPDATE schema_migrations SET version = 9999").Error })
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Migrate(t.Context()); err == nil || !strings.Contains(err.Error(), "newer Linkwatch") {
			t.Error("a newer schema:", err)
		}
	})
}

// Programs that start at once on one database all find it ready, be it new or of schema 193.
func TestMigrateAtOnce(t *testing.T) {
	for _, c := range []struct {
		name, engine string
		database     func(t testing.TB, engine string) (url string)
	}{
		{models.SQLite, models.SQLite, emptyDatabase},
		{models.Postgres, models.Postgres, emptyDatabase},
		{"schema 193 " + models.SQLite, models.SQLite, modelstest.Unreleased},
		{"schema 193 " + models.Postgres, models.Postgres, modelstest.Unreleased},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			engine, url := c.engine, c.database(t, c.engine)
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					db, err := models.Open(t.Context(), engine, url, slog.New(slog.DiscardHandler))
					if err != nil {
						t.Error(err)
						return
					}
					if err := errors.Join(db.Migrate(t.Context()), db.Ready(t.Context()), db.Close()); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
		})
	}
}

// While another instance migrates, a new one says that it waits, and gives up after the limit. With the newest schema
// it does not wait.
func TestMigrateWaitsForAnotherInstance(t *testing.T) {
	defer models.MaxMigration(200 * time.Millisecond)()
	defer func(before time.Duration) { migrate.DefaultLockTimeout = before }(migrate.DefaultLockTimeout)
	migrate.DefaultLockTimeout = 50 * time.Millisecond // the limit of the library, which must not apply
	url := modelstest.NewPostgres(t)
	log := modelstest.NewLog(t)
	db, err := models.Open(t.Context(), models.Postgres, url, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	whileMigrating := func(do func(ctx context.Context) error) (result error) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := db.Write(ctx, func(tx *gorm.DB) error {
			if err := db.OneAtATime(tx, models.LockMigrations); err != nil {
				return err
			}
			result = do(ctx)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return result
	}
	if err := whileMigrating(db.Migrate); err == nil || !strings.Contains(err.Error(), "another instance has been migrating the database for more than 200ms") {
		t.Errorf("got %v, want that another instance migrates", err)
	}
	if n := log.Count("waiting for another instance to migrate the database"); n != 1 {
		t.Errorf("the wait is logged %d times, want 1", n)
	}
	stopped := whileMigrating(func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return db.Migrate(ctx)
	})
	if !errors.Is(stopped, context.Canceled) {
		t.Errorf("a start that is stopped: got %v", stopped)
	}
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := whileMigrating(db.Migrate); err != nil {
		t.Errorf("with the newest schema: got %v", err)
	}
}
