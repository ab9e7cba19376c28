package e2e

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // makes and drops the test's database
	sqlite "github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/ext/fts5"
)

// newDatabase creates a PostgreSQL database for one test, on the server that TEST_POSTGRES_URL names, and returns its
// URL.
func newDatabase(t *testing.T) string {
	t.Helper()
	server := os.Getenv("TEST_POSTGRES_URL")
	if server == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("TEST_POSTGRES_URL is not set: with CI=true the program is tested on PostgreSQL too")
		}
		t.Skip("TEST_POSTGRES_URL is not set, so PostgreSQL is not tested")
	}
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := sql.Open("pgx", server)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("linkwatch_e2e_%d_%d", os.Getpid(), time.Now().UnixNano())
	if _, err := admin.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal("making a database: ", err)
	}
	t.Cleanup(func() { // runs after the program has ended
		if _, err := admin.Exec("DROP DATABASE " + name); err != nil {
			t.Error("the program left the database in use: ", err)
		}
		_ = admin.Close()
	})
	u.Path = "/" + name
	return u.String()
}

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
