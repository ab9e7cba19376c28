package models_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linkwatch/models"
)

// fileWith makes an SQLite file with n rows.
func fileWith(t *testing.T, file string, n int) string {
	t.Helper()
	db := openFile(t, file)
	if n > 0 {
		if err := addRows(db, 0, n); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// A backup takes the place of a database only if that is wanted. The old one is kept.
func TestRestore(t *testing.T) {
	dir := t.TempDir()
	backup, file := fileWith(t, filepath.Join(t.TempDir(), "copy.db"), 3), filepath.Join(dir, "test.db")
	r, err := models.Restore(t.Context(), backup, file, false, nil)
	if err != nil || r.Kept != "" || r.Schema == 0 {
		t.Fatalf("where there is no database: %+v %v", r, err)
	}
	db := openFile(t, file)
	if err := addRows(db, 100, 2); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := models.Restore(t.Context(), backup, file, false, nil); !errors.Is(err, models.ErrNotEmpty) {
		t.Errorf("over a database: %v", err)
	}
	if _, err := models.Restore(t.Context(), file, file, true, nil); !errors.Is(err, models.ErrDatabase) {
		t.Errorf("from itself: %v", err)
	}
	if r, err = models.Restore(t.Context(), backup, file, true, nil); err != nil {
		t.Fatal(err)
	}
	if n := rows(t, openFile(t, file)); n != 3 {
		t.Errorf("%d rows after it, want 3", n)
	}
	if n := rows(t, openFile(t, r.Kept)); n != 5 || !strings.HasPrefix(r.Kept, file+".before-restore-") {
		t.Errorf("%s has %d rows, want 5", r.Kept, n)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

// A database that a program has open is not replaced, also if that program is idle.
func TestRestoreWhileInUse(t *testing.T) {
	backup, file := fileWith(t, filepath.Join(t.TempDir(), "copy.db"), 3), filepath.Join(t.TempDir(), "test.db")
	db := openFile(t, file)
	if err := addRows(db, 0, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := models.Restore(t.Context(), backup, file, true, nil); !errors.Is(err, models.ErrInUse) {
		t.Errorf("a database that is open: %v", err)
	}
	if err := addRows(db, 1, 1); err != nil {
		t.Error(err)
	}
	if n := rows(t, db); n != 2 {
		t.Errorf("%d rows", n)
	}
	if got := names(t, filepath.Dir(file)); got != "test.db test.db-shm test.db-wal" {
		t.Errorf("the folder has %s", got)
	}
}

// The old database that is kept includes what a killed program left in its write-ahead log. A
// log without its database is not applied to the new one.
func TestRestoreMindsWriteAheadLogs(t *testing.T) {
	backup, dir := fileWith(t, filepath.Join(t.TempDir(), "copy.db"), 3), t.TempDir()
	live := filepath.Join(t.TempDir(), "live.db")
	db := openFile(t, live)
	if err := addRows(db, 0, 1000); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		ends []string
		kept int
	}{
		{"both.db", []string{"", "-wal"}, 1000},
		{"log.db", []string{"-wal", "-shm"}, 0},
	} {
		file := filepath.Join(dir, c.name)
		for _, end := range c.ends { // as after a kill
			content, err := os.ReadFile(live + end)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file+end, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := models.Restore(t.Context(), backup, file, true, nil)
		if err != nil {
			t.Fatal(c.name, err)
		}
		for _, end := range []string{"-wal", "-shm"} {
			if _, err := os.Stat(file + end); err == nil {
				t.Errorf("%s%s is there", c.name, end)
			}
		}
		if n := rows(t, openFile(t, file)); n != 3 {
			t.Errorf("%s: %d rows after it, want 3", c.name, n)
		}
		if c.kept > 0 {
			if n := rows(t, openFile(t, r.Kept)); n != c.kept {
				t.Errorf("%s: %d rows are kept, want %d", c.name, n, c.kept)
			}
		}
	}
}

// A file that is no backup changes nothing, and neither does one in place of the database that is none.
func TestRestoreRefuses(t *testing.T) {
	good := fileWith(t, filepath.Join(t.TempDir(), "copy.db"), 3)
	text := filepath.Join(t.TempDir(), "notes")
	if err := os.WriteFile(text, []byte(strings.Repeat("Dear diary. ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	damaged := fileWith(t, filepath.Join(t.TempDir(), "damaged.db"), 20_000)
	content, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(content) / 2; i < len(content)-8192; i++ {
		content[i] = 'Z'
	}
	if err := os.WriteFile(damaged, content, 0o600); err != nil {
		t.Fatal(err)
	}
	file := fileWith(t, filepath.Join(t.TempDir(), "test.db"), 5)
	for _, c := range []struct{ backup, file string }{
		{text, file}, {damaged, file}, {filepath.Join(t.TempDir(), "none"), file}, {good, text}, {t.TempDir(), file},
		{good, filepath.Join(t.TempDir(), "none", "test.db")},
	} {
		before := ""
		if d := filepath.Dir(c.file); filepath.Base(d) != "none" {
			before = names(t, d)
		}
		if r, err := models.Restore(t.Context(), c.backup, c.file, true, nil); err == nil {
			t.Errorf("%v was restored: %+v", c, r)
		}
		if before != "" {
			if after := names(t, filepath.Dir(c.file)); after != before {
				t.Errorf("%v: the folder had %s, has %s", c, before, after)
			}
		}
	}
	if n := rows(t, openFile(t, file)); n != 5 {
		t.Errorf("%d rows, want 5", n)
	}
}

// If the path is a symbolic link, the file that it points to is replaced. The old one is kept next to that file.
func TestRestoreFollowsLinks(t *testing.T) {
	backup, data, dir := fileWith(t, filepath.Join(t.TempDir(), "copy.db"), 3), t.TempDir(), t.TempDir()
	behind, link := fileWith(t, filepath.Join(data, "real.db"), 5), filepath.Join(dir, "linkwatch.db")
	target, err := filepath.Rel(dir, behind)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	r, err := models.Restore(t.Context(), backup, link, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != target || names(t, dir) != "linkwatch.db" {
		t.Errorf("the link leads to %q, beside it are %s: %v", to, names(t, dir), err)
	}
	if n := rows(t, openFile(t, behind)); n != 3 {
		t.Errorf("%d rows after it, want 3", n)
	}
	if n := rows(t, openFile(t, r.Kept)); n != 5 || !strings.HasPrefix(r.Kept, behind+".before-restore-") {
		t.Errorf("%s has %d rows, want 5", r.Kept, n)
	}
	if _, err := models.Restore(t.Context(), link, behind, true, nil); !errors.Is(err, models.ErrDatabase) {
		t.Errorf("from a link to itself: %v", err)
	}
	gone := filepath.Join(dir, "gone.db")
	if err := os.Symlink(filepath.Join(data, "gone.db"), gone); err != nil {
		t.Fatal(err)
	}
	if _, err := models.Restore(t.Context(), backup, gone, true, nil); !errors.Is(err, models.ErrDangling) {
		t.Errorf("to a dangling link: %v", err)
	}
}
