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
	if err := db.Migrate(t.Context()); err != nil {
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

// The newest backups and all other files stay.
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
	made := backup.File{Name: "linkwatch-20261124T120000Z.db", At: noon}
	if deleted, err := f.Rotate(made, noon); err != nil || deleted != 2 {
		t.Errorf("%d deleted, %v", deleted, err)
	}
	slices.Sort(kept)
	if got := names(t, dir); !slices.Equal(got, kept) {
		t.Errorf("left: %s", got)
	}
	if deleted, err := (backup.Folder{Dir: dir, Keep: 9}).Rotate(made, noon); err != nil || deleted != 0 {
		t.Errorf("fewer backups than Keep: %d deleted, %v", deleted, err)
	}
}

// A file with a future time in its name, or a clock that is set back, does not delete the new backup.
func TestRotateWithWrongClocks(t *testing.T) {
	const first, second, future = "linkwatch-20261123T120000Z.db", "linkwatch-20261124T120000Z.db", "linkwatch-20990101T000000Z.db"
	for name, c := range map[string]struct {
		made string
		now  time.Time
		want []string
	}{
		"a file from the future":          {second, noon, []string{second, future}},
		"the clock is set back":           {first, noon.Add(-24 * time.Hour), []string{first, second, future}},
		"by less than the tolerance":      {"linkwatch-20261124T115930Z.db", noon.Add(-30 * time.Second), []string{"linkwatch-20261124T115930Z.db", future}},
		"the clock is right in 2099":      {future, noon.AddDate(80, 0, 0), []string{future}},
		"the backup is not in its folder": {"", noon, []string{future}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, first, second, future)
			if c.made != "" {
				write(t, dir, c.made)
			}
			f := backup.Folder{Dir: dir, Interval: time.Hour, Keep: 1}
			if _, err := f.Rotate(backup.File{Name: c.made, At: c.now}, c.now); err != nil {
				t.Fatal(err)
			}
			if got := names(t, dir); !slices.Equal(got, c.want) {
				t.Errorf("left: %s, want %s", got, c.want)
			}
		})
	}
}

// A file with a future time in its name is not a backup, so a backup is overdue.
func TestFuture(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "linkwatch-20990101T000000Z.db", "linkwatch-20261124T120200Z.db")
	f := backup.Folder{Dir: dir, Interval: time.Hour, Keep: 1}
	newest, ok, err := f.Newest(noon)
	if ok || err != nil || !f.Overdue(noon) {
		t.Errorf("newest: %+v %v", newest, err)
	}
	future, err := f.Future(noon)
	if err != nil || len(future) != 2 || future[0].Name != "linkwatch-20990101T000000Z.db" {
		t.Errorf("%+v %v", future, err)
	}
	if newest, ok, err := f.Newest(noon.Add(time.Minute)); !ok || err != nil || newest.Name != "linkwatch-20261124T120200Z.db" || f.Overdue(noon.Add(time.Minute)) {
		t.Errorf("a minute later: %+v %v", newest, err)
	}
}

// The server's own database does not count as a backup and is not deleted, even through a link.
func TestDatabaseInTheFolder(t *testing.T) {
	for _, name := range []string{"linkwatch-20200101T000000Z.db", "linkwatch-20200101T000000Z.db.7.tmp"} {
		for _, link := range []func(string, string) error{nil, os.Symlink, os.Link} {
			dir := t.TempDir()
			file := filepath.Join(dir, name)
			db := openFile(t, file)
			if link != nil {
				other := filepath.Join(t.TempDir(), "linkwatch.db")
				if err := link(file, other); err != nil {
					t.Fatal(err)
				}
				file = other
			}
			f := backup.Folder{Dir: dir, Database: file, Interval: time.Hour, Keep: 1}
			if !f.Overdue(noon) {
				t.Errorf("%s counts as a backup", name)
			}
			for at := noon; at.Before(noon.Add(3 * time.Hour)); at = at.Add(time.Hour) {
				made, err := f.Add(t.Context(), db, at)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := f.Rotate(made, at); err != nil {
					t.Fatal(err)
				}
			}
			if got := names(t, dir); !slices.Contains(got, name) || !slices.Contains(got, "linkwatch-20261124T140000Z.db") {
				t.Errorf("the folder has %s", got)
			}
		}
	}
}

// A database in BACKUP_DIR with the name of a backup is refused, even before it exists.
func TestCheckDatabase(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	write(t, dir, "linkwatch-20200101T000000Z.db", "linkwatch.db")
	for link, to := range map[string]string{"to-backup.db": "linkwatch-20200101T000000Z.db", "to-other.db": "linkwatch.db"} {
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(elsewhere, link)); err != nil {
			t.Fatal(err)
		}
	}
	sameDir := filepath.Join(elsewhere, "backups")
	if err := os.Symlink(dir, sameDir); err != nil {
		t.Fatal(err)
	}
	for file, refused := range map[string]bool{
		filepath.Join(dir, "linkwatch-20200101T000000Z.db"):         true,
		filepath.Join(dir, "linkwatch-20210101T000000Z.db"):         true, // does not exist
		filepath.Join(sameDir, "linkwatch-20210101T000000Z.db"):     true,
		filepath.Join(elsewhere, "to-backup.db"):                    true,
		filepath.Join(elsewhere, "to-other.db"):                     false,
		filepath.Join(dir, "linkwatch.db"):                          false,
		filepath.Join(elsewhere, "linkwatch-20200101T000000Z.db"):   false,
		filepath.Join(dir, "none", "linkwatch-20200101T000000Z.db"): false,
		":memory:": false,
		"":         false,
	} {
		err := backup.Folder{Dir: dir, Database: file}.CheckDatabase()
		if (err != nil) != refused || err != nil && !(strings.Contains(err.Error(), "BACKUP_DIR") && strings.Contains(err.Error(), "DATABASE_URL")) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// Add deletes incomplete backups.
func TestAdd(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "linkwatch-20261101T120000Z.db.123.tmp", "linkwatch-20261101T120000Z.db.123.tmp-journal", "linkwatch-20261101T120000Z.db.mine.tmp")
	db := openFile(t, filepath.Join(t.TempDir(), "test.db"))
	f := backup.Folder{Dir: dir, Interval: time.Hour, Keep: 2}
	if _, ok, err := f.Newest(noon); ok || err != nil {
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
	newest, ok, err := f.Newest(noon)
	if err != nil || !ok || newest != made {
		t.Errorf("%+v, want %+v: %v", newest, made, err)
	}
	if f.Overdue(noon.Add(f.Interval-1)) || !f.Overdue(noon.Add(f.Interval)) {
		t.Error("want a backup to be overdue after the interval")
	}
	if f.Late(newest, noon.Add(2*time.Hour)) || !f.Late(newest, noon.Add(2*time.Hour+1)) {
		t.Error("want the backup to be late after two intervals")
	}
}

// Errors of the folder do not contain its path.
func TestFolderErrors(t *testing.T) {
	dir := t.TempDir()
	db := openFile(t, filepath.Join(t.TempDir(), "test.db"))
	file := filepath.Join(dir, "file")
	write(t, dir, "file")
	for folder, want := range map[string]string{filepath.Join(dir, "none"): "does not exist", file: "not a directory"} {
		f := backup.Folder{Dir: folder, Keep: 1}
		_, err := f.Add(context.Background(), db, noon)
		_, rotate := f.Rotate(backup.File{}, noon)
		for _, err := range []error{err, rotate} {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), dir) {
				t.Errorf("%s: got %v, want %q", folder, err, want)
			}
		}
	}
}
