package modelstest

import (
	"embed"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"gorm.io/gorm"

	"linkwatch/models"
)

// unreleased has the schema 193 of both engines, as it was dumped from a migrated database.
//
//go:embed testdata/schema193.*.sql
var unreleased embed.FS

// Unreleased creates a database with schema 193, the last one before the baselines, and returns its URL. It has the
// rows of AddRows.
func Unreleased(t testing.TB, engine string) (url string) {
	t.Helper()
	if engine == models.SQLite {
		url = filepath.Join(t.TempDir(), "unreleased.db")
	} else {
		url = NewPostgres(t)
	}
	runScripts(t, engine, url, engine, "rows")
	return url
}

// AddRows adds rows to an empty database: some of each system.
func AddRows(t testing.TB, engine, url string) {
	t.Helper()
	runScripts(t, engine, url, "rows")
}

func runScripts(t testing.TB, engine, url string, names ...string) {
	t.Helper()
	script := ""
	for _, name := range names {
		content, err := unreleased.ReadFile("testdata/schema193." + name + ".sql")
		if err != nil {
			t.Fatal(err)
		}
		script += string(content)
	}
	db, err := models.Open(t.Context(), engine, url, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	err = db.Write(t.Context(), func(tx *gorm.DB) error {
		var args []any
		if engine == models.Postgres {
			args = append(args, pgx.QueryExecModeSimpleProtocol) // the only mode with several statements
		}
		_, err := tx.Statement.ConnPool.ExecContext(t.Context(), script, args...)
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatalf("run %s: %v", names, err)
	}
}
