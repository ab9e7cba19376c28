//go:build unix

package models_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"linkwatch/models"
)

// setUmask sets the umask of the process until the end of the test.
func setUmask(t *testing.T, mask int) {
	old := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(old) })
}

// wantPrivate fails unless a folder has n files, all with mode 0600.
func wantPrivate(t *testing.T, dir string, n int) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != n {
		t.Errorf("got %v, %v, want %d files", files, err, n)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s has mode %v, %v", f.Name(), info.Mode(), err)
		}
	}
}

// No other user can read or lock a file of a database, a backup or a restored database, whatever the umask and the modes
// that an older version left.
func TestFilesArePrivate(t *testing.T) {
	for _, mask := range []int{0, 0o022} {
		t.Run(fmt.Sprintf("umask %03o", mask), func(t *testing.T) {
			setUmask(t, mask)
			dir, backups, left := t.TempDir(), t.TempDir(), t.TempDir()
			file, copied := filepath.Join(dir, "test.db"), filepath.Join(backups, "copy.db")
			db := openFile(t, file)
			if err := addRows(db, 0, 10); err != nil {
				t.Fatal(err)
			}
			wantPrivate(t, dir, 3)
			if _, err := db.Backup(t.Context(), copied, false); err != nil {
				t.Fatal(err)
			}
			wantPrivate(t, backups, 1)

			// What a killed program of an older version left, behind a symbolic link.
			for _, end := range []string{"", "-wal", "-shm"} {
				content, err := os.ReadFile(file + end)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(left, "test.db"+end), content, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			link := filepath.Join(t.TempDir(), "link.db")
			if err := os.Symlink(filepath.Join(left, "test.db"), link); err != nil {
				t.Fatal(err)
			}
			other := openFile(t, link)
			wantPrivate(t, left, 3)
			if n := rows(t, other); n != 10 {
				t.Errorf("got %d rows, want 10", n)
			}
			if err := other.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Join(left, "test.db"), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := models.Restore(t.Context(), copied, link, true, nil); err != nil {
				t.Fatal(err)
			}
			wantPrivate(t, left, 2) // also the one that is kept
		})
	}
}

// A file that is not a regular one, such as a link that another user made, is left alone.
func TestModesOfOtherFiles(t *testing.T) {
	dir := t.TempDir()
	file, other := filepath.Join(dir, "test.db"), filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, file+"-journal"); err != nil {
		t.Fatal(err)
	}
	openFile(t, file)
	if info, err := os.Stat(other); err != nil || info.Mode().Perm() != fs.FileMode(0o644) {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
}
