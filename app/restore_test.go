package app

import (
	"context"
	"log/slog"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gorm.io/gorm"

	"linkwatch/config"
	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/modelstest"
)

// run runs a command and returns its output.
func run(t *testing.T, getenv func(string) string, args ...string) string {
	t.Helper()
	var out strings.Builder
	if err := Run(t.Context(), args, getenv, &out); err != nil {
		t.Fatalf("%s: %v", args, err)
	}
	return out.String()
}

// withStore calls do with the accounts of a database.
func withStore(t *testing.T, getenv func(string) string, do func(context.Context, *core, *accounts.Store) error) {
	t.Helper()
	err := withCore(t.Context(), getenv, func(c *core) error {
		return do(t.Context(), c, accounts.NewStore(c.DB, c.Clock, accountOptions(c.Options)))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A restored database has no sessions. The command lists the API tokens that are valid again, such as one that was revoked
// after the backup.
func TestRestoreListsAccess(t *testing.T) {
	getenv := env(t, nil)
	copied := filepath.Join(t.TempDir(), "copy.db")
	run(t, getenv, "user", "add", "alice", "--role", "admin")
	run(t, getenv, "token", "add", "alice", "--name", "Leaked")
	run(t, getenv, "user", "add", "carol", "--role", "viewer")
	run(t, getenv, "token", "add", "carol", "--name", "Powerless")
	run(t, getenv, "user", "disable", "carol")
	withStore(t, getenv, func(ctx context.Context, _ *core, s *accounts.Store) error {
		u, err := s.ByName(ctx, "alice")
		if err != nil {
			return err
		}
		_, err = s.StartSession(ctx, u, accounts.Client{}, "")
		return err
	})
	run(t, getenv, "backup", copied)
	id := regexp.MustCompile(`y_\w+`).FindString(run(t, getenv, "token", "list"))
	run(t, getenv, "token", "revoke", id)
	out := run(t, getenv, "restore", "--force", copied)
	for _, want := range []string{"1 session ended", "linkwatch token revoke ID", id, "Leaked", "alice"} {
		if !strings.Contains(out, want) {
			t.Errorf("got %q, want %q in it", out, want)
		}
	}
	if strings.Contains(out, "Powerless") {
		t.Errorf("got %q with a token that is not accepted", out)
	}
	withStore(t, getenv, func(ctx context.Context, _ *core, s *accounts.Store) error {
		u, err := s.ByName(ctx, "alice")
		if err != nil {
			return err
		}
		if all, err := s.Sessions(ctx, u); err != nil || len(all) > 0 {
			t.Errorf("got sessions %v, %v", all, err)
		}
		return nil
	})
	out = run(t, getenv, "user", "passwd", "alice")
	if !strings.Contains(out, "Its API tokens stay valid.") || !strings.Contains(out, "--revoke-tokens") {
		t.Errorf("passwd: got %q", out)
	}
	if out = run(t, getenv, "user", "passwd", "alice", "--revoke-tokens"); !strings.Contains(out, "Revoked all its API tokens.") {
		t.Errorf("passwd: got %q", out)
	}
	if out = run(t, getenv, "token", "list"); strings.Contains(out, id) {
		t.Errorf("the token was not revoked: %q", out)
	}
}

// A backup of a schema without accounts can be restored.
func TestRestoreWithoutAccounts(t *testing.T) {
	getenv := env(t, nil)
	copied := filepath.Join(t.TempDir(), "copy.db")
	run(t, getenv, "migrate", "up")
	cfg, err := config.Load(getenv)
	if err != nil {
		t.Fatal(err)
	}
	db, err := models.Open(t.Context(), models.SQLite, string(cfg.DatabaseURL), newLogger(cfg, t.Output(), t.Output()))
	if err != nil {
		t.Fatal(err)
	}
	err = db.Write(t.Context(), func(tx *gorm.DB) error { return tx.Exec("DROP TABLE sessions").Error })
	if err == nil {
		_, err = db.Backup(t.Context(), copied, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if out := run(t, getenv, "restore", "--force", copied); strings.Contains(out, "session") {
		t.Errorf("got %q", out)
	}
}

// A backup of schema 193 can be restored, and the next command upgrades it. A backup of an older schema is refused.
func TestRestoreOfUnreleasedSchema(t *testing.T) {
	getenv := env(t, nil)
	backup := modelstest.Unreleased(t, models.SQLite)
	out := run(t, getenv, "restore", backup)
	for _, want := range []string{"with schema version 193. The server updates the schema when it starts.", "1 session ended", "CI"} {
		if !strings.Contains(out, want) {
			t.Errorf("got %q, want %q in it", out, want)
		}
	}
	if out := run(t, getenv, "user", "list"); !strings.Contains(out, "bob") {
		t.Errorf("user list: %q", out)
	}
	if out := run(t, getenv, "check"); strings.Contains(out, "193") {
		t.Errorf("check: %q", out)
	}
	db, err := models.Open(t.Context(), models.SQLite, backup, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	modelstest.Exec(t, db, "UPDATE schema_migrations SET version = 192")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var refused strings.Builder
	err = Run(t.Context(), []string{"restore", "--force", backup}, getenv, &refused)
	if err == nil || !strings.Contains(err.Error(), "the database is unchanged: the database has schema 192, of another program or from before the first release") {
		t.Errorf("got %v, %s", err, &refused)
	}
}
