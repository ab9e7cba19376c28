package backup_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/backup"
)

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func openFile(t *testing.T, file string) *models.DB {
	t.Helper()
	db, err := models.Open(t.Context(), models.SQLite, file, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // the test is over
	if err := db.Migrate(); err != nil {
		t.Fatal(err)
	}
	return db
}

func write(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// The newest backups stay, and so does all that is none.
func TestRotate(t *testing.T) {
	dir := t.TempDir()
	kept := []string{
		"linkwatch-20261123T120000Z.db", "linkwatch-20261124T120000Z.db",
		"linkwatch-20261101T120000Z.db.key", "linkwatch-20261301T120000Z.db", "linkwatch-20261101.db", "linkwatch.db",
		"mylinkwatch-20261101T120000Z.db", "linkwatch-20261101T120000Z.db.gz", "linkwatch-20261101T120000Z.db.mine.tmp", "notes.txt",
	}
	write(t, dir, kept...)
	write(t, dir, "linkwatch-20261122T120000Z.db", "linkwatch-20251124T120000Z.db")
	if err := os.Mkdir(filepath.Join(dir, "linkwatch-20200101T000000Z.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	kept = append(kept, "linkwatch-20200101T000000Z.db")
	f := backup.Folder{Dir: dir, Interval: time.Hour, Keep: 2}
	if deleted, err := f.Rotate(); err != nil || deleted != 2 {
		t.Errorf("%d deleted, %v", deleted, err)
	}
	slices.Sort(kept)
	if got := names(t, dir); !slices.Equal(got, kept) {
		t.Errorf("left: %s", got)
	}
	if deleted, err := (backup.Folder{Dir: dir, Keep: 9}).Rotate(); err != nil || deleted != 0 {
		t.Errorf("of fewer than are kept %d were deleted: %v", deleted, err)
	}
}

// A backup is added, and what a kill left of others is deleted.
func TestAdd(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "linkwatch-20261101T120000Z.db.123.tmp", "linkwatch-20261101T120000Z.db.123.tmp-journal", "linkwatch-20261101T120000Z.db.mine.tmp")
	db := openFile(t, filepath.Join(t.TempDir(), "test.db"))
	f := backup.Folder{Dir: dir, Interval: time.Hour, Keep: 2}
	if _, ok, err := f.Newest(); ok || err != nil {
		t.Errorf("before the first: %v %v", ok, err)
	}
	made, err := f.Add(t.Context(), db, noon)
	if err != nil || made.Name != "linkwatch-20261124T120000Z.db" {
		t.Fatalf("%+v %v", made, err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"linkwatch-20261101T120000Z.db.mine.tmp", made.Name}) {
		t.Errorf("the folder has %s", got)
	}
	openFile(t, filepath.Join(dir, made.Name))
	newest, ok, err := f.Newest()
	if err != nil || !ok || newest != made {
		t.Errorf("%+v, want %+v: %v", newest, made, err)
	}
	if f.Overdue(noon.Add(f.Interval-1)) || !f.Overdue(noon.Add(f.Interval)) {
		t.Error("a backup is overdue after the interval")
	}
	if f.Late(newest, noon.Add(2*time.Hour)) || !f.Late(newest, noon.Add(2*time.Hour+1)) {
		t.Error("it is late after two intervals")
	}
}

// What is wrong with the folder is said without its path.
func TestFolderThatFails(t *testing.T) {
	dir := t.TempDir()
	db := openFile(t, filepath.Join(t.TempDir(), "test.db"))
	file := filepath.Join(dir, "file")
	write(t, dir, "file")
	for of, want := range map[string]string{filepath.Join(dir, "none"): "is not there", file: "not a directory"} {
		f := backup.Folder{Dir: of, Keep: 1}
		_, err := f.Add(context.Background(), db, noon)
		_, rotate := f.Rotate()
		for _, err := range []error{err, rotate} {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), dir) {
				t.Errorf("%s: %v", of, err)
			}
		}
	}
}
