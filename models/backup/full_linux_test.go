package backup_test

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"linkwatch/models/backup"
)

// On a full disk, existing backups stay and incomplete ones are removed.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skip("cannot mount a small disk: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	write(t, dir, "linkwatch-20261123T120000Z.db")
	db := openFile(t, filepath.Join(t.TempDir(), "test.db")) // larger than the disk
	_, err := backup.Folder{Dir: dir, Keep: 1}.Add(t.Context(), db, noon)
	if err == nil || !strings.Contains(err.Error(), "no space") || strings.Contains(err.Error(), dir) {
		t.Error(err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"linkwatch-20261123T120000Z.db"}) {
		t.Errorf("the folder has %s", got)
	}
}
