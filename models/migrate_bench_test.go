package models_test

import (
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

// BenchmarkMigrate measures how long a new database takes to get its schema.
func BenchmarkMigrate(b *testing.B) {
	for _, engine := range []string{models.SQLite, models.Postgres} {
		b.Run(engine, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				url := filepath.Join(b.TempDir(), "new.db")
				if engine == models.Postgres {
					url = modelstest.NewPostgres(b)
				}
				db, err := models.Open(b.Context(), engine, url, slog.New(slog.DiscardHandler))
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				err = db.Migrate(b.Context())
				b.StopTimer()
				if err := errors.Join(err, db.Close()); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
