package models_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"linkwatch/models"
)

// A folder that cannot be written is named as the cause. Root may write to all but a disk that is read-only.
func TestRestoreIntoAReadOnlyFolder(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, ""); err != nil {
		t.Skip("only a user who may mount a disk can make it read-only: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	backup, file := fileWith(t, filepath.Join(t.TempDir(), "copy.db"), 3), fileWith(t, filepath.Join(dir, "test.db"), 5)
	if err := syscall.Mount("none", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := models.Restore(t.Context(), backup, file, true, nil); !errors.Is(err, syscall.EROFS) {
		t.Errorf("%v", err)
	}
	if got := names(t, dir); got != "test.db" {
		t.Errorf("the folder has %s", got)
	}
}
