package models_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
		if err := db.Revert(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "no migrations to revert") {
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
			if err := db.Revert(t.Context(), 99); err == nil || !strings.Contains(err.Error(), "cannot revert 99 migrations") || db.Ready(ctx) != nil {
				t.Fatal("more steps down than there are:", err)
			}
			if err := db.Revert(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			for _, line := range schemaOf(t, db) {
				if !strings.Contains(line, "schema_migrations") && !strings.HasPrefix(line, "extension ") {
					t.Error("left after going all the way down:", line)
				}
			}
			if err := db.Ready(ctx); err == nil {
				t.Fatal("ready after going all the way down")
			}
			if err := db.Revert(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "no migrations to revert") {
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

// Going down deletes the rows of a system and keeps those of others. Going up again makes the schema of a new database.
func TestMigrationsWithRows(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{models.SQLite, models.Postgres} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			url := emptyDatabase(t, engine)
			db := opened(t, engine, url)
			if err := db.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, schema, first := state(t, engine, url)
			modelstest.AddRows(t, engine, url)
			_, _, before := state(t, engine, url)
			if err := db.MigrateDown(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "delete all data of the system") {
				t.Error("down below the last baseline:", err)
			}
			_, _, kept := state(t, engine, url)
			wantSame(t, "rows", kept, before)
			if err := errors.Join(db.Revert(t.Context(), 1), db.Migrate(t.Context())); err != nil {
				t.Fatal(err)
			}
			_, _, rows := state(t, engine, url)
			lost := []string{"users", "sessions", "tokens", "audit_entries", "sqlite_sequence"} // the last system has these
			for _, row := range before {
				table, _, _ := strings.Cut(row, ":")
				if !slices.Contains(rows, row) && !slices.Contains(lost, strings.TrimSuffix(table, "_seq_seq")) {
					t.Error("the rows of another system are lost:", row)
				}
			}
			for step := 1; db.Revert(t.Context(), 1) == nil; step++ {
				if step > 100 {
					t.Fatal("going down does not end")
				}
			}
			if err := db.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, schemaAfter, rows := state(t, engine, url)
			wantSame(t, "schema", schemaAfter, schema)
			wantSame(t, "rows", rows, first)
		})
	}
}

// A migration of SQLite with the line "-- foreign_keys: off" can replace a table to which others refer, without deleting
// the referring rows. It must not leave rows that refer to missing ones.
func TestMigrationReplacesTable(t *testing.T) {
	db := modelstest.New(t)
	const replace = `CREATE TABLE parents_new (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT '');
		INSERT INTO parents_new (id) SELECT id FROM parents WHERE id < %d;
		DROP TABLE parents;
		ALTER TABLE parents_new RENAME TO parents;`
	if err := db.RunMigration(t.Context(), `CREATE TABLE parents (id INTEGER PRIMARY KEY);
		CREATE TABLE children (parent INTEGER NOT NULL REFERENCES parents (id) ON DELETE CASCADE);
		INSERT INTO parents VALUES (1), (2);
		INSERT INTO children VALUES (1), (2);`); err != nil {
		t.Fatal(err)
	}
	children := func(want int) {
		t.Helper()
		var n int
		if err := db.Read(t.Context()).Raw("SELECT count(*) FROM children").Scan(&n).Error; err != nil || n != want {
			t.Errorf("got %d children, want %d, error %v", n, want, err)
		}
	}
	if err := db.RunMigration(t.Context(), "-- foreign_keys: off\n"+fmt.Sprintf(replace, 3)); err != nil {
		t.Fatal(err)
	}
	children(2)
	err := db.RunMigration(t.Context(), "-- foreign_keys: off\n"+fmt.Sprintf(replace, 2))
	if err == nil || !strings.Contains(err.Error(), "leaves rows that refer to missing rows") {
		t.Errorf("got %v", err)
	}
	children(2)
	modelstest.Exec(t, db, "DELETE FROM parents WHERE id = 2") // foreign keys are on again
	children(1)
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
