//go:build e2e

package e2e

import (
	"database/sql"
	"errors"
	"testing"

	sqlite "github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/ext/fts5"
)

// checkIntegrity fails the test if SQLite finds damage in a file that no program has open.
func checkIntegrity(t *testing.T, file string) {
	t.Helper()
	db, err := sqlite.Open(file, fts5.Register)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, pragma := range []string{"integrity_check", "foreign_key_check"} {
		var verdict string
		switch err := db.QueryRow("PRAGMA " + pragma).Scan(&verdict); {
		case pragma == "foreign_key_check" && errors.Is(err, sql.ErrNoRows):
		case err != nil:
			t.Errorf("%s: %v", pragma, err)
		case verdict != "ok":
			t.Errorf("%s: %s", pragma, verdict)
		}
	}
}
