package modelstest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver that makes and drops the test databases

	"linkwatch/migrations"
	"linkwatch/models"
)

// setting is the environment variable with the URL of the PostgreSQL server.
const setting = "TEST_POSTGRES_URL"

// NewPostgres creates an empty PostgreSQL database for a test and returns its URL. When
// the test ends, it drops the database and fails the test if connections are left open.
//
// TEST_POSTGRES_URL is the URL of a server (version 15 or newer) with a user who may create
// databases. Without it the test is skipped, or fails if CI is true. options are added to CREATE DATABASE.
func NewPostgres(t testing.TB, options ...string) (url string) {
	t.Helper()
	return create(t, server(t), " "+strings.Join(options, " "))
}

// copyPostgres is like NewPostgres, with the current schema.
func copyPostgres(t testing.TB) (url string) {
	t.Helper()
	admin := server(t)
	template, err := postgresTemplate()
	if err != nil {
		t.Fatal("create template database: ", err)
	}
	// FILE_COPY takes half the time of WAL_LOG, which also logs each page.
	return create(t, admin, " TEMPLATE "+template+" STRATEGY FILE_COPY")
}

// server returns a pool of connections to the test server.
func server(t testing.TB) *sql.DB {
	t.Helper()
	if os.Getenv(setting) == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal(setting + " is not set: with CI=true, tests need both engines")
		}
		t.Skip(setting + " is not set: skipping PostgreSQL")
	}
	admin, err := openServer()
	if err != nil {
		t.Fatal(err)
	}
	return admin
}

// openServer opens the pool once for all tests of the process.
var openServer = sync.OnceValues(func() (*sql.DB, error) { return sql.Open("pgx", os.Getenv(setting)) })

func create(t testing.TB, admin *sql.DB, options string) (url string) {
	t.Helper()
	name := "linkwatch_test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	if _, err := admin.Exec("CREATE DATABASE " + name + options); err != nil {
		t.Fatal(setting+": cannot create a database: ", err)
	}
	t.Cleanup(func() {
		// The server notices closed connections with a delay. DROP DATABASE would wait 100 ms for that.
		var left int
		if !Within(5*time.Second, func() bool {
			const query = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'"
			if err := admin.QueryRow(query, name).Scan(&left); err != nil {
				t.Error(err)
				return true
			}
			return left == 0
		}) {
			t.Errorf("%d connections to the test database are left open", left)
		}
		if _, err := admin.Exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	url, err := databaseURL(name)
	if err != nil {
		t.Fatal(err)
	}
	return url
}

func databaseURL(name string) (string, error) {
	u, err := url.Parse(os.Getenv(setting))
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	return u.String(), nil
}

// postgresTemplate returns the name of a database with the current schema, which tests
// copy. It stays on the server, and all processes with the same migrations share it. It
// must have no connections while it is copied.
var postgresTemplate = sync.OnceValues(func() (name string, err error) {
	sum, err := migrationsSum()
	if err != nil {
		return "", err
	}
	name = "linkwatch_template_" + sum
	admin, err := openServer()
	if err != nil {
		return "", err
	}
	ctx := context.Background()
	conn, err := admin.Conn(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	const lock = 7246091 // key of an advisory lock that only this function uses
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", lock); err != nil {
		return "", err
	}
	defer func() {
		_, e := conn.ExecContext(ctx, "SELECT pg_advisory_unlock($1)", lock)
		err = errors.Join(err, e)
	}()
	var exists bool
	err = conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", name).Scan(&exists)
	if err != nil || exists {
		return name, err
	}

	unfinished := name + "_unfinished" // renamed when complete, in case the process is killed
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + unfinished + " WITH (FORCE)", "CREATE DATABASE " + unfinished} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return "", err
		}
	}
	url, err := databaseURL(unfinished)
	if err != nil {
		return "", err
	}
	if err := migrate(models.Postgres, url); err != nil {
		return "", err
	}
	_, err = conn.ExecContext(ctx, "ALTER DATABASE "+unfinished+" RENAME TO "+name)
	return name, err
})

// migrationsSum returns a checksum of the PostgreSQL migrations.
func migrationsSum() (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(migrations.FS, models.Postgres, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := migrations.FS.ReadFile(path)
		_, _ = fmt.Fprintf(sum, "%s %d\n%s", path, len(b), b)
		return err
	})
	return fmt.Sprintf("%x", sum.Sum(nil)[:8]), err
}
