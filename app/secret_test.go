package app

import (
	"errors"
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
		{models.SQLite, "file:links.db?bad=%zz", "links.db.key"},
		{models.SQLite, "a?b#c%20d.db", "a?b#c%20d.db.key"},
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

func sameKey(t *testing.T, one, two *secret.Box) bool {
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
	newBox := func(driver, url, key string) *secret.Box {
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
	if !sameKey(t, newBox(models.SQLite, "a.db", "text"), newBox(models.Postgres, "postgres://h/db", "text")) ||
		sameKey(t, newBox(models.SQLite, "a.db", "text"), newBox(models.SQLite, "a.db", "other")) {
		t.Error("the key does not depend on SECRET_KEY alone")
	}
	if sameKey(t, newBox(models.SQLite, ":memory:", ""), newBox(models.SQLite, ":memory:", "")) {
		t.Error("the key of a database in memory is not random")
	}
	if got := files(); len(got) != 0 {
		t.Errorf("unexpected key files: %v", got)
	}
	inFile, onServer := newBox(models.SQLite, "file:a.db?mode=rwc", ""), newBox(models.Postgres, "postgres://h/db", "")
	if !sameKey(t, inFile, newBox(models.SQLite, "a.db", "")) || !sameKey(t, onServer, newBox(models.Postgres, "postgres://h/other", "")) || sameKey(t, inFile, onServer) {
		t.Error("the key changed, or two databases share it")
	}
	if got := strings.Join(files(), " "); got != "a.db.key linkwatch.key" {
		t.Errorf("files: %s", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.db.key"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newSecretBox(secretConfig(models.SQLite, "a.db", "")); err == nil || !strings.Contains(err.Error(), "SECRET_KEY") {
		t.Errorf("invalid key file: %v", err)
	}
}

// All names of a database lead to the same key. A key beside a symbolic link, of an older version, is copied beside the
// database.
func TestKeyOfSymbolicLink(t *testing.T) {
	newBox := func(file string) (*secret.Box, error) { return newSecretBox(secretConfig(models.SQLite, file, "")) }
	linked := func() (file, link string) {
		t.Helper()
		file, link = filepath.Join(t.TempDir(), "links.db"), filepath.Join(t.TempDir(), "link.db")
		if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(file, link)); err != nil {
			t.Fatal(err)
		}
		return file, link
	}
	mustBox := func(file string) *secret.Box {
		t.Helper()
		b, err := newBox(file)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	file, link := linked()
	if !sameKey(t, mustBox(link), mustBox(file)) || isMissing(file+".key") || !isMissing(link+".key") {
		t.Error("the link has a key of its own")
	}

	file, link = linked()
	old, err := secret.FromFile(link + ".key")
	if err != nil {
		t.Fatal(err)
	}
	if !sameKey(t, old, mustBox(link)) || !sameKey(t, old, mustBox(file)) || !sameKey(t, old, mustBox(link)) {
		t.Error("the key beside the link is lost")
	}

	file, link = linked()
	for _, name := range []string{file, link} {
		if _, err := secret.FromFile(name + ".key"); err != nil {
			t.Fatal(err)
		}
	}
	_, err = newBox(link)
	if err == nil || !strings.Contains(err.Error(), file+".key") || !strings.Contains(err.Error(), link+".key") {
		t.Errorf("two keys: %v", err)
	}
	if err := os.Remove(link + ".key"); err != nil {
		t.Fatal(err)
	}
	mustBox(link)
}
