package models_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

// openFile opens an SQLite file with the newest schema, until the end of the test.
func openFile(t *testing.T, file string) *models.DB {
	t.Helper()
	db, err := models.Open(t.Context(), models.SQLite, file, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // a test may have closed it
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

// addRows stores n rows, numbered from first on, in one transaction.
func addRows(db *models.DB, first, n int) error {
	return db.Write(context.Background(), func(tx *gorm.DB) error {
		if err := tx.Exec("CREATE TABLE IF NOT EXISTS written (n INTEGER, text TEXT)").Error; err != nil {
			return err
		}
		return tx.Exec(`WITH RECURSIVE n(i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			INSERT INTO written (n, text) SELECT i, printf('%.300c', 'x') FROM n`, first, first+n-1).Error
	})
}

func rows(t *testing.T, db *models.DB) (n int) {
	t.Helper()
	if err := db.Read(t.Context()).Raw("SELECT count(*) FROM written").Scan(&n).Error; err != nil {
		t.Fatal(err)
	}
	return n
}

// names are the files of a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// A backup is the database at one moment: of each transaction all rows or none,
// although others write while it is made.
func TestBackupWhileOthersWrite(t *testing.T) {
	db := openFile(t, filepath.Join(t.TempDir(), "test.db"))
	const batch = 10
	if err := addRows(db, 0, 500*batch); err != nil {
		t.Fatal(err)
	}
	stop, written := make(chan struct{}), 0
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := addRows(db, 1_000_000+i*batch, batch); err != nil {
				t.Error(err)
				return
			}
			written++
		}
	})
	dir := t.TempDir()
	file := filepath.Join(dir, "copy.db")
	size, err := db.Backup(t.Context(), file, false)
	close(stop)
	writer.Wait()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Size() != size || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %d bytes were said: %v", info, size, err)
	}
	if got := names(t, dir); got != "copy.db" {
		t.Errorf("beside the backup: %s", got)
	}
	n := rows(t, openFile(t, file))
	if n%batch != 0 || n < 500*batch || n > (500+written)*batch {
		t.Errorf("%d rows, of %d and %d more", n, 500*batch, written*batch)
	}
}

// A backup replaces a file only on request, and never the database itself.
func TestBackupReplaces(t *testing.T) {
	dir := t.TempDir()
	db := openFile(t, filepath.Join(dir, "test.db"))
	taken := filepath.Join(t.TempDir(), "taken.db")
	for _, file := range []string{taken, filepath.Join(dir, "test.db.key")} {
		if err := os.WriteFile(file, []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		file    string
		replace bool
		want    error
	}{
		{taken, false, models.ErrExists},
		{filepath.Join(dir, "test.db"), true, models.ErrDatabase},
		{filepath.Join(dir, "test.db-wal"), true, models.ErrDatabase},
		{filepath.Join(dir, "test.db.key"), true, models.ErrDatabase},
		{t.TempDir(), true, models.ErrNoFile},
		{"/dev/null", true, models.ErrNoFile},
		{filepath.Join(dir, "none", "copy.db"), false, fs.ErrNotExist},
		{taken, true, nil},
	} {
		if _, err := db.Backup(t.Context(), c.file, c.replace); !errors.Is(err, c.want) {
			t.Errorf("%s %v: %v, want %v", c.file, c.replace, err, c.want)
		}
	}
	if info, err := os.Stat(taken); err != nil || info.Mode().Perm() != 0o600 || info.Size() < 4096 {
		t.Errorf("the file that was replaced: %v %v", info, err)
	}
	if key, err := os.ReadFile(filepath.Join(dir, "test.db.key")); err != nil || string(key) != "mine" {
		t.Errorf("the key is %q: %v", key, err)
	}
}

// A backup replaces no file of a database that was opened by a symbolic link.
func TestBackupOfSymbolicLink(t *testing.T) {
	file, link := filepath.Join(t.TempDir(), "test.db"), filepath.Join(t.TempDir(), "link.db")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.WriteFile(file+".key", nil, 0o600), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	db := openFile(t, link)
	for _, own := range []string{file, file + "-wal", file + ".key", link} {
		if _, err := db.Backup(t.Context(), own, true); !errors.Is(err, models.ErrDatabase) {
			t.Errorf("%s: %v", own, err)
		}
	}
}

// A backup that is given up, and one of a damaged database, leave nothing.
func TestBackupThatFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "test.db")
	db := openFile(t, file)
	if err := addRows(db, 0, 20_000); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.Backup(ctx, filepath.Join(dir, "copy.db"), false); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(content) / 2; i < len(content)-8192; i++ {
		content[i] = 'Z'
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	db = openFile(t, file)
	if _, err := db.Backup(t.Context(), filepath.Join(dir, "copy.db"), false); !models.Damaged(err) {
		t.Errorf("of a damaged database: %v", err)
	}
	if got := names(t, dir); got != "" {
		t.Errorf("left: %s", got)
	}
}

// PostgreSQL has its own program for that.
func TestBackupOfPostgreSQL(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		_, err := db.Backup(t.Context(), filepath.Join(t.TempDir(), "copy.db"), false)
		if (err != nil) != (db.Engine == models.Postgres) {
			t.Errorf("%s: %v", db.Engine, err)
		}
	})
}

// Verify accepts only undamaged Linkwatch databases with a known schema.
func TestVerify(t *testing.T) {
	dir := t.TempDir()
	exec := func(name, sql string) {
		file := filepath.Join(dir, name)
		db := openFile(t, file)
		if sql != "" {
			modelstest.Exec(t, db, sql)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	exec("good", "")
	exec("newer", "UPDATE schema_migrations SET version = 99999")
	exec("old", "UPDATE schema_migrations SET version = 192")
	exec("unreleased", "UPDATE schema_migrations SET version = 193")
	exec("foreign", "PRAGMA application_id = 7")
	for name, content := range map[string]string{"text": strings.Repeat("Dear diary. ", 100), "empty": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"good": "<nil>", "unreleased": "<nil>", "newer": "use a newer Linkwatch", "old": "before the first release", "foreign": "another program",
		"text": "not an SQLite database", "empty": "empty", "none": "no such file",
	} {
		before := names(t, dir)
		schema, err := models.VerifyFile(t.Context(), filepath.Join(dir, name))
		if !strings.Contains(fmt.Sprint(err), want) || (schema > 0) != (err == nil) {
			t.Errorf("%s: %d %v, want %q", name, schema, err, want)
		}
		if after := names(t, dir); after != before {
			t.Errorf("%s: the folder had %s, has %s", name, before, after)
		}
	}
}
