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
		for range 2 { // the second round runs on what going down left behind
			for range 2 { // migrating what is migrated changes nothing
				if err := db.Migrate(); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Ready(ctx); err != nil {
				t.Fatal(err)
			}
			if err := db.MigrateDown(0); err != nil {
				t.Fatal(err)
			}
			if err := db.Ready(ctx); err == nil {
				t.Fatal("ready after going all the way down")
			}
			if err := db.MigrateDown(1); err == nil || !strings.Contains(err.Error(), "no migration is left") {
				t.Fatal("down from the bottom:", err)
			}
		}

		// A program that is older than the database says so.
		err := db.Migrate()
		if err == nil {
			err = db.Write(ctx, func(tx *gorm.DB) error { return tx.Exec("UPDATE schema_migrations SET version = 999").Error })
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Migrate(); err == nil || !strings.Contains(err.Error(), "newer Linkwatch") {
			t.Error("a newer schema:", err)
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
