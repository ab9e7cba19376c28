package models_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"

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
		if err := db.MigrateDown(1); err == nil || !strings.Contains(err.Error(), "no migrations to revert") {
			t.Error("down without a schema:", err)
		}
		for range 2 { // the second round runs on what going down left behind
			for range 2 { // migrating what is migrated changes nothing
				if err := db.Migrate(); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Ready(ctx); err != nil {
				t.Fatal(err)
			}
			if err := db.MigrateDown(99); err == nil || !strings.Contains(err.Error(), "cannot revert 99 migrations") || db.Ready(ctx) != nil {
				t.Fatal("more steps down than there are:", err)
			}
			if err := db.MigrateDown(0); err != nil {
				t.Fatal(err)
			}
			if err := db.Ready(ctx); err == nil {
				t.Fatal("ready after going all the way down")
			}
			if err := db.MigrateDown(1); err == nil || !strings.Contains(err.Error(), "no migrations to revert") {
				t.Fatal("down from the bottom:", err)
			}
		}

		// A program that is older than the database says so.
		err := db.Migrate()
		if err == nil {
			err = db.Write(ctx, func(tx *gorm.DB) error { return tx.Exec("UPDATE schema_migrations SET version = 9999").Error })
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Migrate(); err == nil || !strings.Contains(err.Error(), "newer Linkwatch") {
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
		if err := db.Migrate(); err != nil {
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
			if err := db.Migrate(); err == nil || !strings.Contains(err.Error(), "has schema 6, from before the first release of Linkwatch") {
				t.Fatal("migrating:", err)
			}
		}
		if err := db.Ready(t.Context()); err == nil {
			t.Error("it is ready")
		}
		found := db.Examine(t.Context())[1]
		if len(found.Problems) != 1 || !strings.Contains(found.Problems[0], "from before the first release") {
			t.Errorf("examined: %+v", found)
		}
		var version int
		if err := db.Read(t.Context()).Raw("SELECT version FROM schema_migrations").Scan(&version).Error; err != nil || version != 6 {
			t.Errorf("the schema is at version %d now, %v", version, err)
		}
	})
}

// Two programs that start on one new database both find it ready.
func TestMigrateTwiceAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new.db")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			db, err := models.Open(t.Context(), models.SQLite, file, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Error(err)
				return
			}
			if err := db.Migrate(); err != nil {
				t.Error(err)
			}
			if err := db.Ready(t.Context()); err != nil {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
