package models_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

// eachUnreleased runs a test on every engine, with the URL of a new database that has schema 193.
func eachUnreleased(t *testing.T, test func(t *testing.T, engine, url string)) {
	t.Helper()
	t.Parallel()
	for _, engine := range []string{models.SQLite, models.Postgres} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			test(t, engine, modelstest.Unreleased(t, engine))
		})
	}
}

// emptyDatabase returns the URL of a new database.
func emptyDatabase(t testing.TB, engine string) (url string) {
	t.Helper()
	if engine == models.Postgres {
		return modelstest.NewPostgres(t)
	}
	return filepath.Join(t.TempDir(), "new.db")
}

// opened opens a database until the test ends.
func opened(t *testing.T, engine, url string) *models.DB {
	t.Helper()
	db, err := models.Open(t.Context(), engine, url, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// state returns the version, the definitions and the rows of a database. It opens the database again, because a
// connection keeps statements of the old schema.
func state(t *testing.T, engine, url string) (version int, schema, rows []string) {
	t.Helper()
	db := opened(t, engine, url)
	if err := db.Read(t.Context()).Raw("SELECT version FROM schema_migrations").Scan(&version).Error; err != nil {
		t.Fatal(err)
	}
	return version, schemaOf(t, db), rowsOf(t, db)
}

// A database of schema 193 gets the schema of a new database and keeps its rows.
func TestUpgradeOfUnreleasedSchema(t *testing.T) {
	eachUnreleased(t, func(t *testing.T, engine, url string) {
		_, _, before := state(t, engine, url)
		db := opened(t, engine, url)
		if err := db.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "schema version is 193") {
			t.Error("ready before the upgrade:", err)
		}
		err := db.MigrateDown(t.Context(), 1)
		if err == nil || !strings.Contains(err.Error(), `has schema 193: run "linkwatch migrate up" first`) {
			t.Error("down before the upgrade:", err)
		}
		for range 2 { // the second time changes nothing
			if err := db.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		for _, e := range db.Examine(t.Context()) {
			if len(e.Problems) > 0 {
				t.Errorf("%s: %q", e.Name, e.Problems)
			}
		}
		fresh := emptyDatabase(t, engine)
		if err := opened(t, engine, fresh).Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		modelstest.AddRows(t, engine, fresh)
		version, schema, rows := state(t, engine, url)
		newest, newSchema, newRows := state(t, engine, fresh)
		if version != newest {
			t.Errorf("got version %d, want %d", version, newest)
		}
		wantSame(t, "schema", schema, newSchema)
		wantSame(t, "rows", rows, before)
		wantSame(t, "rows of a new database", newRows, before)
	})
}

// An upgrade of schema 193 that fails changes nothing.
func TestUpgradeOfUnreleasedSchemaFails(t *testing.T) {
	eachUnreleased(t, func(t *testing.T, engine, url string) {
		db := opened(t, engine, url)
		modelstest.Exec(t, db, `INSERT INTO coverage_days (website_seq, day_at, status, pages)
			SELECT seq, 7, 'odd', 1 FROM websites`)
		_, schema, rows := state(t, engine, url)
		for range 2 {
			if err := db.Migrate(t.Context()); err == nil || !strings.Contains(err.Error(), "migrate schema: migration failed") {
				t.Fatal("got", err)
			}
		}
		version, schemaAfter, rowsAfter := state(t, engine, url)
		if version != 193 {
			t.Errorf("got version %d", version)
		}
		wantSame(t, "schema", schemaAfter, schema)
		wantSame(t, "rows", rowsAfter, rows)
		modelstest.Exec(t, db, "DELETE FROM coverage_days WHERE status = 'odd'")
		if err := db.Migrate(t.Context()); err != nil {
			t.Error("after a repair:", err)
		}
	})
}

// An upgrade whose connection ends in the middle changes nothing, and the next one succeeds.
func TestUpgradeOfUnreleasedSchemaEnds(t *testing.T) {
	t.Parallel()
	url := modelstest.Unreleased(t, models.Postgres)
	_, schema, _ := state(t, models.Postgres, url)
	db, other := opened(t, models.Postgres, url), opened(t, models.Postgres, url)
	release := modelstest.Hold(t, other, "alert_subjects") // the last table that the upgrade changes
	upgraded := make(chan error, 1)
	go func() { upgraded <- db.Migrate(t.Context()) }()
	modelstest.Eventually(t, "the upgrade waits for a lock, and its connection ends", func() bool {
		var ended int
		err := other.Read(t.Context()).Raw(`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%RENAME CONSTRAINT%'`).
			Scan(&ended).Error
		return err == nil && ended > 0
	})
	if err := <-upgraded; err == nil {
		t.Error("the upgrade succeeded without its connection")
	}
	release()
	version, schemaAfter, _ := state(t, models.Postgres, url)
	if version != 193 {
		t.Errorf("got version %d", version)
	}
	wantSame(t, "schema", schemaAfter, schema)
	if err := db.Migrate(t.Context()); err != nil {
		t.Error("the next upgrade:", err)
	}
}

// Databases of schemas that cannot be upgraded are refused with a sentence that says what to do, and not changed.
func TestOldSchemaIsRefused(t *testing.T) {
	eachUnreleased(t, func(t *testing.T, engine, url string) {
		db := opened(t, engine, url)
		_, schema, rows := state(t, engine, url)
		for _, version := range []int{6, 150, 192, 194, 199} {
			modelstest.Exec(t, db, "UPDATE schema_migrations SET version = ?", version)
			want := fmt.Sprintf("the database has schema %d, of another program or from before the first release of Linkwatch, "+
				"and cannot be migrated: first start the last program with schema 193, "+
				"or set DATABASE_URL to a new database", version)
			for what, err := range map[string]error{
				"migrating": db.Migrate(t.Context()), "reverting": db.MigrateDown(t.Context(), 1),
				"ready": db.Ready(t.Context()),
			} {
				if err == nil || err.Error() != want {
					t.Errorf("%s: got %v, want %s", what, err, want)
				}
			}
			all := db.Examine(t.Context())
			found := all[slices.IndexFunc(all, func(e models.Examination) bool { return e.Name == "schema" })]
			if !slices.Equal(found.Problems, []string{want}) {
				t.Errorf("examined: %+v", found)
			}
		}
		version, schemaAfter, rowsAfter := state(t, engine, url)
		if version != 199 {
			t.Errorf("got version %d", version)
		}
		wantSame(t, "schema", schemaAfter, schema)
		wantSame(t, "rows", rowsAfter, rows)
	})
}
