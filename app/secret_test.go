package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linkwatch/config"
	"linkwatch/models"
	"linkwatch/models/secret"
)

func secretConfig(driver, url, key string) config.Config {
	return config.Config{DatabaseDriver: driver, DatabaseURL: config.DSN(url), SecretKey: config.Secret(key)}
}

func TestKeyFile(t *testing.T) {
	for _, c := range []struct{ driver, url, want string }{
		{models.SQLite, "linkwatch.db", "linkwatch.db.key"},
		{models.SQLite, "/data/links.db", "/data/links.db.key"},
		{models.SQLite, "file:/data/links.db?_pragma=x(1)&mode=rwc", "/data/links.db.key"},
		{models.SQLite, "file:links.db", "links.db.key"},
		{models.SQLite, "sqlite:///data/links.db", "/data/links.db.key"},
		{models.SQLite, "links.db?cache=shared", "links.db.key"},
		{models.SQLite, "links.db?bad=%zz", "links.db.key"},
		{models.SQLite, ":memory:", ""},
		{models.SQLite, "file::memory:?cache=shared", ""},
		{models.SQLite, "file:x?mode=memory&cache=shared", ""},
		{models.SQLite, "file:/x.db?vfs=memdb", ""},
		{models.Postgres, "postgres://h/db", "linkwatch.key"},
	} {
		if got := keyFile(secretConfig(c.driver, c.url, "")); got != c.want {
			t.Errorf("%s: %q, want %q", c.url, got, c.want)
		}
	}
}

// same reports whether two boxes have the same key.
func same(t *testing.T, one, two *secret.Box) bool {
	t.Helper()
	sealed, err := one.Seal([]byte("x"), "w_1")
	if err != nil {
		t.Fatal(err)
	}
	_, err = two.Open(sealed, "w_1")
	return err == nil
}

func TestSecretBox(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	made := func(driver, url, key string) *secret.Box {
		t.Helper()
		b, err := newSecretBox(secretConfig(driver, url, key))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	files := func() (names []string) {
		t.Helper()
		found, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			names = append(names, f.Name())
		}
		return names
	}
	if !same(t, made(models.SQLite, "a.db", "text"), made(models.Postgres, "postgres://h/db", "text")) ||
		same(t, made(models.SQLite, "a.db", "text"), made(models.SQLite, "a.db", "other")) {
		t.Error("the key is not that of SECRET_KEY")
	}
	if same(t, made(models.SQLite, ":memory:", ""), made(models.SQLite, ":memory:", "")) {
		t.Error("a database in memory has a fixed key")
	}
	if got := files(); len(got) != 0 {
		t.Errorf("files for keys that need none: %v", got)
	}
	inFile, onServer := made(models.SQLite, "file:a.db?mode=rwc", ""), made(models.Postgres, "postgres://h/db", "")
	if !same(t, inFile, made(models.SQLite, "a.db", "")) || !same(t, onServer, made(models.Postgres, "postgres://h/other", "")) || same(t, inFile, onServer) {
		t.Error("the next start has another key")
	}
	if got := strings.Join(files(), " "); got != "a.db.key linkwatch.key" {
		t.Errorf("files: %s", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.db.key"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newSecretBox(secretConfig(models.SQLite, "a.db", "")); err == nil || !strings.Contains(err.Error(), "SECRET_KEY") {
		t.Errorf("a broken key file: %v", err)
	}
}
