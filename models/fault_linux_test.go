package models_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

// A full disk differs from a failing one, and is retried too.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skip("only a user who may mount a small disk can fill one: ", err)
	}
	l := logged{t: t, file: filepath.Join(dir, "test.db"), log: modelstest.NewLog(t)}
	t.Cleanup(func() {
		if err := errors.Join(l.Close(), syscall.Unmount(dir, 0)); err != nil {
			t.Error(err)
		}
	})
	l.DB = l.open()
	if err := l.write(1); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 4<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	full := func(what string, err error) {
		t.Helper()
		l.unavailable(what, err)
		if err == nil || !strings.Contains(err.Error(), "no disk space") {
			t.Errorf("%s: %v", what, err)
		}
	}
	full("writing", l.write(100_000))
	full("writing again", l.write(100_000))
	full("readiness", l.Ready(t.Context()))
	if n := l.log.Count("level=ERROR"); n != 1 {
		t.Errorf("%d errors were logged:\n%s", n, l.log)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	defer models.ProbeAtOnce()()
	if err := errors.Join(l.Ready(t.Context()), l.write(100_000)); err != nil {
		t.Error(err)
	}
}
