//go:build unix

package app

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Every file that the program writes is private, whatever its umask: the database and its other files, also after SQLite has
// created them again, the key, backups and what a restore leaves.
func TestFilesArePrivate(t *testing.T) {
	for _, mask := range []int{0, 0o022} {
		t.Run(fmt.Sprintf("umask %03o", mask), func(t *testing.T) {
			dir := t.TempDir()
			archive, backups := filepath.Join(dir, "archive"), filepath.Join(dir, "backups")
			if err := os.Mkdir(backups, 0o700); err != nil {
				t.Fatal(err)
			}
			old := syscall.Umask(mask)
			defer syscall.Umask(old)
			getenv := env(t, map[string]string{
				"DATABASE_URL": filepath.Join(dir, "test.db"), "CRAWLER_ARCHIVE_URL": archive, "BACKUP_DIR": backups,
			})
			wantPrivate := func(when string, wanted ...string) {
				t.Helper()
				found := map[string]bool{}
				err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
					if err != nil || path == dir {
						return err
					}
					found[d.Name()] = true
					info, err := d.Info()
					if err == nil && info.Mode().Perm()&0o077 != 0 {
						t.Errorf("%s: %s has mode %v", when, d.Name(), info.Mode())
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
				for _, name := range wanted {
					if !found[name] {
						t.Errorf("%s: %s is missing in %v", when, name, found)
					}
				}
			}
			for range 2 {
				p := start(t, getenv)
				if res := p.post(t, "/v1/shortlinks", `{"long_url":"https://example.com/"}`); res.StatusCode != 201 {
					t.Errorf("got status %d", res.StatusCode)
				}
				wantPrivate("while the server runs", "test.db", "test.db-wal", "test.db-shm", "test.db.key", "archive")
				p.stop()
				if err := p.wait(t); err != nil {
					t.Error(err)
				}
				wantPrivate("after the server", "test.db")
				for _, name := range []string{"test.db", "test.db-wal", "test.db-shm"} { // as an older version left them
					f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE, 0o600)
					if err != nil {
						t.Fatal(err)
					}
					_ = f.Close()
					if err := os.Chmod(f.Name(), 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
			copied := filepath.Join(dir, "copy.db")
			for _, args := range []string{"backup " + copied, "restore --force " + copied} {
				var out strings.Builder
				if err := Run(t.Context(), strings.Fields(args), getenv, &out); err != nil {
					t.Fatal(args, err)
				}
				wantPrivate(args, "copy.db")
			}
		})
	}
}
