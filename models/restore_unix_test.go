//go:build unix

package models_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"linkwatch/models"
)

// The server may run as another user than the one who restores.
func TestRestoreKeepsTheOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := t.TempDir()
	const server = 65534
	if err := os.Chown(dir, server, server); err != nil {
		t.Fatal(err)
	}
	backup, file := fileWith(t, filepath.Join(t.TempDir(), "copy.db"), 3), filepath.Join(dir, "test.db")
	for range 2 { // without a database, and over one
		if _, err := models.Restore(t.Context(), backup, file, true, nil); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); !ok || owner.Uid != server || owner.Gid != server {
			t.Errorf("the owner is %+v", info.Sys())
		}
	}
}
