package models_test

import (
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

// conditionsOf opens a database and returns the problems of a start. Queries run before, as the superuser.
func conditionsOf(t *testing.T, dsn string, queries ...string) string {
	t.Helper()
	admin, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queries {
		if _, err := admin.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	_ = admin.Close()
	return migrationError(t, dsn)
}

func migrationError(t *testing.T, dsn string) string {
	t.Helper()
	db, err := models.Open(t.Context(), models.Postgres, dsn, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.Migrate(t.Context()); err != nil {
		return err.Error()
	}
	if err := db.Ready(t.Context()); err != nil {
		t.Errorf("migrated, but not ready: %v", err)
	}
	return ""
}

func databaseOf(t *testing.T, dsn string) (u *url.URL, name string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return u, strings.TrimPrefix(u.Path, "/")
}

// A start on a server, database or role that does not fit says what is wrong and what to do.
func TestServerConditions(t *testing.T) {
	t.Run("encoding", func(t *testing.T) {
		t.Parallel()
		dsn := modelstest.NewPostgres(t, "ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
		if got := conditionsOf(t, dsn); !strings.Contains(got, "has the encoding SQL_ASCII. Linkwatch needs UTF8: use a database made with CREATE DATABASE") {
			t.Error(got)
		}
	})
	t.Run("read-only", func(t *testing.T) {
		t.Parallel()
		dsn := modelstest.NewPostgres(t)
		_, name := databaseOf(t, dsn)
		got := conditionsOf(t, dsn, "ALTER DATABASE "+name+" SET default_transaction_read_only = on")
		if !strings.Contains(got, "transactions are read-only. Run ALTER ROLE") {
			t.Error(got)
		}
	})
	t.Run("no schema", func(t *testing.T) {
		t.Parallel()
		dsn := modelstest.NewPostgres(t)
		_, name := databaseOf(t, dsn)
		got := conditionsOf(t, dsn, "ALTER DATABASE "+name+" SET search_path = absent")
		if !strings.Contains(got, "no schema of the search_path (absent) exists") || !strings.Contains(got, "CREATE SCHEMA") {
			t.Error(got)
		}
	})
	t.Run("another schema", func(t *testing.T) {
		t.Parallel()
		dsn := modelstest.NewPostgres(t)
		_, name := databaseOf(t, dsn)
		if got := conditionsOf(t, dsn, "CREATE SCHEMA links", "ALTER DATABASE "+name+" SET search_path = links"); got != "" {
			t.Fatal(got)
		}
		if got := conditionsOf(t, dsn); got != "" { // again, with the newest schema
			t.Error(got)
		}
	})
	t.Run("tables in another schema", func(t *testing.T) {
		t.Parallel()
		dsn := modelstest.NewPostgres(t)
		_, name := databaseOf(t, dsn)
		got := conditionsOf(t, dsn) + conditionsOf(t, dsn, "CREATE SCHEMA staging", "ALTER DATABASE "+name+" SET search_path = staging, public")
		if !strings.Contains(got, "the schema public has the tables of Linkwatch, but new tables would be in staging") {
			t.Error(got)
		}
	})
	t.Run("another program", func(t *testing.T) {
		t.Parallel()
		dsn := modelstest.NewPostgres(t)
		_, name := databaseOf(t, dsn)
		if got := conditionsOf(t, dsn, "CREATE TABLE public.schema_migrations (version TEXT)", "CREATE SCHEMA links",
			"ALTER DATABASE "+name+" SET search_path = links, public"); got != "" {
			t.Error(got)
		}
	})
	t.Run("version", func(t *testing.T) {
		t.Parallel()
		got := models.ServerProblems("14.9", 140009)
		if len(got) != 1 || got[0] != "PostgreSQL has version 14.9. Linkwatch needs version 15 or newer: upgrade the server" {
			t.Error(got)
		}
		if got := models.ServerProblems("15.0", 150000); len(got) != 0 {
			t.Error(got)
		}
	})
}

// A role without the rights to migrate is told so, and works if another role has migrated and granted it the tables.
func TestServerRights(t *testing.T) {
	t.Parallel()
	dsn := modelstest.NewPostgres(t)
	u, name := databaseOf(t, dsn)
	role := name + "_role"
	conditionsWith := func(queries ...string) string {
		t.Helper()
		conditionsOf(t, dsn, queries...) // migrates as the superuser
		as := *u
		as.User = url.User(role)
		return migrationError(t, as.String())
	}
	admin, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, err := admin.Exec(fmt.Sprintf("DROP OWNED BY %[1]s; DROP ROLE %[1]s", role))
		if err != nil {
			t.Error(err)
		}
		_ = admin.Close()
	})
	if _, err := admin.Exec("CREATE ROLE " + role + " LOGIN"); err != nil {
		t.Fatal(err)
	}
	as := *u
	as.User = url.User(role)
	if _, err := admin.Exec("ALTER ROLE " + role + " CONNECTION LIMIT 0"); err != nil {
		t.Fatal(err)
	}
	if _, err := models.Open(t.Context(), models.Postgres, as.String(), slog.New(slog.DiscardHandler)); !models.NoConnection(err) {
		t.Errorf("without a free connection: got %v", err)
	}
	if _, err := admin.Exec("ALTER ROLE " + role + " CONNECTION LIMIT -1"); err != nil {
		t.Fatal(err)
	}
	if got := migrationError(t, as.String()); !strings.Contains(got, "cannot create tables in the schema public. Run GRANT CREATE, USAGE ON SCHEMA \"public\" TO") {
		t.Errorf("without rights: %s", got)
	}
	if got := conditionsWith(); !strings.Contains(got, "cannot read and change all tables (alert_") || !strings.Contains(got, "Run GRANT SELECT, INSERT, UPDATE, DELETE") {
		t.Errorf("without rights to tables: %s", got)
	}
	if _, err := admin.Exec("CREATE TABLE foreign_table (); ALTER TABLE foreign_table OWNER TO pg_monitor"); err != nil {
		t.Fatal(err)
	}
	if got := conditionsWith("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO " + role); got != "" {
		t.Errorf("with rights to tables: %s", got)
	}
	db, err := models.Open(t.Context(), models.Postgres, dsn, slog.New(slog.DiscardHandler))
	if err == nil {
		err = errors.Join(db.Revert(t.Context(), 1), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Exec("GRANT CREATE ON SCHEMA public TO " + role); err != nil {
		t.Fatal(err)
	}
	if got := migrationError(t, as.String()); !strings.Contains(got, "belong to the role postgres, so ") {
		t.Errorf("tables of another role: %s", got)
	}
}
