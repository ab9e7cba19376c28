package models_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
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

// The history of scheduled jobs outlives the migration of what started a run, in both directions.
func TestMigrationsKeepRuns(t *testing.T) {
	const startOfRuns = 119
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		modelstest.Exec(t, db, "INSERT INTO scheduled_jobs (id, schedule, requested_at, requested_by) VALUES ('backup', '@hourly', 7, 'start')")
		for id, trigger := range map[string]string{"r_1": "schedule", "r_2": "manual", "r_3": "start"} {
			modelstest.Exec(t, db, `INSERT INTO job_runs (id, job_id, started_at, duration_ns, "trigger", summary, error) VALUES (?, 'backup', 1, 2, ?, 'done', '')`, id, trigger)
		}
		read := func(sql string) (got string) {
			t.Helper()
			var all []string
			if err := db.Read(t.Context()).Raw(sql).Scan(&all).Error; err != nil {
				t.Fatal(err)
			}
			return strings.Join(all, " ")
		}
		const triggers = `SELECT "trigger" FROM job_runs WHERE summary = 'done' ORDER BY id`
		modelstest.MigrateBelow(t, db, startOfRuns)
		if got := read(triggers); got != "schedule manual manual" {
			t.Errorf("after going down: %s", got)
		}
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := read(triggers) + " " + read("SELECT requested_by FROM scheduled_jobs"); got != "schedule manual manual manual" {
			t.Errorf("after going up: %s", got)
		}
	})
}

// A database of a schema from before the first release is recognized, refused with
// a sentence that says so, and not changed.
func TestOldSchemaIsRefused(t *testing.T) {
	modelstest.EachEmpty(t, func(t *testing.T, db *models.DB) {
		for _, sql := range []string{
			"CREATE TABLE schema_migrations (version BIGINT NOT NULL)", "INSERT INTO schema_migrations (version) VALUES (6)",
			"CREATE TABLE scheduled_jobs (id TEXT PRIMARY KEY)", "CREATE TABLE idempotency_keys (key TEXT PRIMARY KEY)",
		} {
			modelstest.Exec(t, db, sql)
		}
		for range 2 {
			if err := db.Migrate(t.Context()); err == nil || !strings.Contains(err.Error(), "has schema 6, from before the first release of Linkwatch") {
				t.Fatal("migrating:", err)
			}
		}
		if err := db.Ready(t.Context()); err == nil {
			t.Error("it is ready")
		}
		all := db.Examine(t.Context())
		found := all[slices.IndexFunc(all, func(e models.Examination) bool { return e.Name == "schema" })]
		if len(found.Problems) != 1 || !strings.Contains(found.Problems[0], "from before the first release") {
			t.Errorf("examined: %+v", found)
		}
		var version int
		if err := db.Read(t.Context()).Raw("SELECT version FROM schema_migrations").Scan(&version).Error; err != nil || version != 6 {
			t.Errorf("the schema is at version %d now, %v", version, err)
		}
	})
}

// Programs that start at once on one new database all find it ready.
func TestMigrateAtOnce(t *testing.T) {
	for engine, database := range map[string]func(t *testing.T) string{
		models.SQLite:   func(t *testing.T) string { t.Helper(); return filepath.Join(t.TempDir(), "new.db") },
		models.Postgres: func(t *testing.T) string { t.Helper(); return modelstest.NewPostgres(t) },
	} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			url := database(t)
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
