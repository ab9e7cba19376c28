//go:build e2e

package e2e

import (
	"net/http"
	"os"

	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"linkwatch/models/modelstest"
)

// notStored fails the test unless writes get 503 and the health routes give the reason.
func (s *Server) notStored(reason string) {
	s.t.Helper()
	var p problem
	body := map[string]any{"long_url": "https://go.dev/" + strings.Repeat("x", 1900), "title": strings.Repeat("y", 150)}
	if status := s.Call("POST", "/v1/shortlinks", body, &p); status != http.StatusServiceUnavailable || !strings.Contains(p.Detail, reason) {
		s.t.Errorf("a write: %d %+v, want 503: %q", status, p, reason)
	}
	if status := s.Call("GET", "/readyz", nil, &p); status != http.StatusServiceUnavailable || !strings.Contains(p.Detail, reason) {
		s.t.Errorf("/readyz: %d %+v, want 503: %q", status, p, reason)
	}
	var health struct {
		Status   string
		Database struct{ Status, Detail string }
	}
	if status := s.Call("GET", "/health", nil, &health); status != http.StatusServiceUnavailable || !strings.Contains(health.Database.Detail, reason) {
		s.t.Errorf("/health: %d %+v, want 503: %q", status, health, reason)
	}
}

// isStored fails the test unless a write works.
func (s *Server) isStored() {
	s.t.Helper()
	if status := s.Call("POST", "/v1/shortlinks", map[string]any{"long_url": "https://go.dev/"}, nil); status != http.StatusCreated {
		s.t.Errorf("a write: %d, want 201", status)
	}
}

func (s *Server) ready() bool { return s.Call("GET", "/readyz", nil, nil) == http.StatusOK }

// After the database file is deleted, the server acknowledges no writes, because they would be lost.
func TestDeletedDatabase(t *testing.T) {
	t.Parallel()
	s := Start(t)
	s.isStored()
	if err := os.Remove(s.store); err != nil {
		t.Fatal(err)
	}
	s.notStored("moved, deleted or replaced")
	s.notStored("moved, deleted or replaced")
	told := func() int { return strings.Count(s.log(), `"msg":"database file moved, deleted or replaced"`) }
	modelstest.Eventually(t, "it is logged", func() bool { return told() > 0 })
	if n := told(); n != 1 {
		t.Errorf("got %d log lines", n)
	}
}

// Writes fail while the disk is full, and work again later.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skip("skipped: cannot mount a small disk: ", err)
	}
	s := Start(t, "DATABASE_URL="+filepath.Join(dir, "linkwatch.db"))
	t.Cleanup(func() { // after the server has stopped, before the folder is removed
		s.Stop()
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	s.isStored()
	ballast := filepath.Join(dir, "ballast")
	fill(t, ballast)
	modelstest.Eventually(t, "a write is refused", func() bool {
		body := map[string]any{"long_url": "https://go.dev/" + strings.Repeat("x", 1900)}
		status, err := s.Try("POST", "/v1/shortlinks", body, nil)
		if err != nil || status != http.StatusCreated && status != http.StatusServiceUnavailable {
			t.Fatalf("got status %d, %v", status, err)
		}
		return status == http.StatusServiceUnavailable
	})
	s.notStored("no disk space")
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	modelstest.Eventually(t, "it is ready again", s.ready)
	s.isStored()
	if out, code := Command(t, []string{"check"}, "DATABASE_URL="+s.store); code != 0 {
		t.Errorf("the database is damaged:\n%s", out)
	}
}

// fill creates a file that uses all free space of its disk.
func fill(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only its size matters
	for block := make([]byte, 4<<10); ; {
		if _, err := f.Write(block); err != nil {
			return
		}
	}
}

// A database of another program is refused with a reason.
func TestForeignDatabase(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "notes.db")
	if err := os.WriteFile(file, []byte("Dear diary, this is no database."), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"serve"}, {"check"}, {"migrate", "up"}, {"demo"}} {
		out, code := Command(t, args, "DATABASE_URL="+file, "HTTP_PORT=0")
		if code != 1 || !strings.Contains(out, "is not an SQLite database, and was not changed") {
			t.Errorf("%s: exit %d, %s", args, code, out)
		}
	}
}

// linkwatch check finds damage, and does not create or change a database.
func TestCheckCommand(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "linkwatch.db")
	if out, code := Command(t, []string{"check"}, "DATABASE_URL="+store); code != 1 || !strings.Contains(out, "no such file") {
		t.Errorf("without a database: exit %d, %s", code, out)
	}
	store = strings.TrimPrefix(demoIn(t), "DATABASE_URL=")
	if out, code := Command(t, []string{"check"}, "DATABASE_URL="+store); code != 0 || strings.Count(out, " ok ") != 4 {
		t.Errorf("a good database: exit %d, %s", code, out)
	}
	content, err := os.ReadFile(store)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(content) / 2; i < len(content)-8192; i++ {
		content[i] = 'Z'
	}
	if err := os.WriteFile(store, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := Command(t, []string{"check"}, "DATABASE_URL="+store); code != 1 || !strings.Contains(out, "integrity    PROBLEM") {
		t.Errorf("a damaged database: exit %d, %s", code, out)
	}
	if url := os.Getenv("TEST_POSTGRES_URL"); url != "" {
		out, code := Command(t, []string{"check"}, "DATABASE_URL="+url)
		if code != 1 || !strings.Contains(out, "PostgreSQL") || !strings.Contains(out, "schema       PROBLEM") {
			t.Errorf("an empty PostgreSQL: exit %d, %s", code, out)
		}
	}
}
