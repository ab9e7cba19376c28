package models_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

// Another program writes to the SQLite file: whoever wants to write too waits
// no longer than its context lasts, stores nothing then, and is served when the
// file is free.
func TestWriteWhileAnotherProgramDoes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "two.db")
	var programs [2]*models.DB
	for i := range programs {
		db, err := models.Open(t.Context(), models.SQLite, file, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		if err := db.Migrate(); err != nil {
			t.Fatal(err)
		}
		programs[i] = db
	}
	modelstest.Exec(t, programs[0], "CREATE TABLE seen (n INTEGER)")
	see := func(ctx context.Context) error {
		return programs[1].Write(ctx, func(tx *gorm.DB) error { return tx.Exec("INSERT INTO seen VALUES (1)").Error })
	}
	err := programs[0].Write(t.Context(), func(*gorm.DB) error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := see(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := see(t.Context()); err != nil {
		t.Error(err)
	}
	var n int
	if err := programs[0].Read(t.Context()).Raw("SELECT count(*) FROM seen").Scan(&n).Error; err != nil || n != 1 {
		t.Errorf("%d rows, %v", n, err)
	}
}
