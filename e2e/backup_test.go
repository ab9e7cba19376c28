//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"linkwatch/models/modelstest"
)

// A restore has the data from before the backup of a running server, and nothing later. The server is stopped for the
// restore.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	store := storeIn(t)
	s := Start(t, store)
	s.isStored()
	file := filepath.Join(t.TempDir(), "copy.db")
	out, code := Command(t, []string{"backup", file}, store)
	if code != 0 || !strings.Contains(out, "verified in ") || !strings.Contains(out, ".key") {
		t.Errorf("backup: exit %d, %s", code, out)
	}
	if out, code := Command(t, []string{"backup", file}, store); code != 1 || !strings.Contains(out, "file already exists. Choose another name, or use --force") {
		t.Errorf("existing file: exit %d, %s", code, out)
	}
	if out, code := Command(t, []string{"backup", file, "--force"}, store, "SECRET_KEY=hidden"); code != 0 || strings.Contains(out, "hidden") {
		t.Errorf("existing file with --force: exit %d, %s", code, out)
	}
	s.isStored()
	if out, code := Command(t, []string{"restore", file}, store); code != 1 || !strings.Contains(out, "--force") {
		t.Errorf("existing database: exit %d, %s", code, out)
	}
	for _, sig := range []syscall.Signal{syscall.SIGCONT, syscall.SIGSTOP} { // a stopped process also counts as running
		s.signal(sig)
		if out, code := Command(t, []string{"restore", "--force", file}, store); code != 1 || !strings.Contains(out, "Stop the server first") {
			t.Errorf("while the server runs: exit %d, %s", code, out)
		}
	}
	s.signal(syscall.SIGCONT)
	s.isStored()
	s.Kill()
	if out, code := Command(t, []string{"restore", "--force", file}, store); code != 0 || !strings.Contains(out, ".before-restore-") {
		t.Errorf("restore: exit %d, %s", code, out)
	}
	again := Start(t, store)
	if n := again.shortLinks(); n != 1 {
		t.Errorf("got %d short links after the restore, want 1", n)
	}
	again.Stop()
	checkIntegrity(t, again.store)
	old, err := filepath.Glob(again.store + ".before-restore-*")
	if err != nil || len(old) != 1 {
		t.Fatalf("old database: got %s, %v", old, err)
	}
	if n := len(Rows(t, old[0], "SELECT short_key FROM short_links")); n != 3 {
		t.Errorf("got %d short links in the old database, want 3", n)
	}
}

// shortLinks returns the number of short links, up to one page.
func (s *Server) shortLinks() int {
	s.t.Helper()
	var list struct{ Items []struct{} }
	if status := s.Call("GET", "/v1/shortlinks", nil, &list); status != 200 {
		s.t.Fatalf("short links: %d", status)
	}
	return len(list.Items)
}

// A kill at any step of a backup leaves either no backup file or a complete one.
func TestKillDuringBackup(t *testing.T) {
	t.Parallel()
	store := demoIn(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "copy.db")
	killAtEachStep(t, []string{"backup", file, "--force"}, dir, store, func() {
		if _, err := os.Stat(file); err == nil {
			checkIntegrity(t, file)
		}
	})
	if out, code := Command(t, []string{"backup", file, "--force"}, store); code != 0 {
		t.Errorf("after all kills: exit %d, %s", code, out)
	}
	checkIntegrity(t, file)
}

// A kill at any step of a restore leaves either the old database or the restored one.
func TestKillDuringRestore(t *testing.T) {
	t.Parallel()
	backup := filepath.Join(t.TempDir(), "copy.db")
	if out, code := Command(t, []string{"backup", backup}, demoIn(t)); code != 0 {
		t.Fatal(out)
	}
	store := storeIn(t)
	database := strings.TrimPrefix(store, "DATABASE_URL=")
	_, closeDB := OpenDatabase(t, database)
	closeDB()
	news := 0
	killAtEachStep(t, []string{"restore", backup, "--force"}, filepath.Dir(database), store, func() {
		checkIntegrity(t, database)
		if len(Rows(t, database, "SELECT id FROM links")) > 0 {
			news++
		}
	})
	if out, code := Command(t, []string{"restore", backup, "--force"}, store); code != 0 {
		t.Errorf("after all kills: exit %d, %s", code, out)
	}
	if len(Rows(t, database, "SELECT id FROM links")) == 0 {
		t.Errorf("the last run did not restore the backup; %d runs did", news)
	}
}

// killAtEachStep runs a command repeatedly. It kills it after the first, then the second, … change of the files in a
// folder, until a run completes. It calls check after each run.
func killAtEachStep(t *testing.T, args []string, dir, store string, check func()) {
	t.Helper()
	for step := 1; ; step++ {
		cmd := exec.Command(binary, args...)
		cmd.Env = environ(store)
		before, changes := listing(t, dir), 0
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		done := false
		modelstest.Eventually(t, "the next step", func() bool {
			select {
			case err := <-ended:
				if done = true; err != nil {
					t.Errorf("step %d: %v", step, err)
				}
				return true
			default:
			}
			if now := listing(t, dir); now != before {
				before = now
				changes++
			}
			return changes >= step
		})
		if !done {
			_ = cmd.Process.Kill()
			<-ended //nolint:errcheck // it was killed
		}
		check()
		if done || step == 40 {
			return
		}
	}
}

// listing returns the names and sizes of the files in a folder.
func listing(t *testing.T, dir string) (all string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // otherwise it was deleted meanwhile
			all += fmt.Sprintln(e.Name(), info.Size()>>16)
		}
	}
	return all
}

// A backup to a full disk keeps the existing file.
func TestBackupToAFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("skipped: cannot mount a small disk: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	store := demoIn(t)
	file := filepath.Join(dir, "copy.db")
	if err := os.WriteFile(file, []byte("yesterday's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := Command(t, []string{"backup", file, "--force"}, store); code != 1 || !strings.Contains(out, "no disk space") {
		t.Errorf("backup: exit %d, %s", code, out)
	}
	if content, err := os.ReadFile(file); err != nil || string(content) != "yesterday's" || listing(t, dir) != "copy.db 0\n" {
		t.Errorf("got content %q, folder %s, %v", content, listing(t, dir), err)
	}
}

// Each kind of file that cannot be restored has its own error. A database that cannot be read cannot be backed up.
func TestRestoreOfInvalidFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text, newer := filepath.Join(dir, "notes"), filepath.Join(dir, "newer.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("Dear diary. ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	db, closeDB := OpenDatabase(t, newer)
	modelstest.Exec(t, db, "UPDATE schema_migrations SET version = 99999")
	closeDB()
	store := storeIn(t)
	for file, want := range map[string]string{
		text: "not an SQLite database", newer: "use a newer Linkwatch", filepath.Join(dir, "none"): "no such file", dir: "not a regular file",
	} {
		out, code := Command(t, []string{"restore", file}, store)
		if code != 1 || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d, %s", file, code, out)
		}
	}
	if _, err := os.Stat(strings.TrimPrefix(store, "DATABASE_URL=")); err == nil {
		t.Error("a failed restore created a database")
	}
}

// A restore over a symbolic link replaces the database behind it.
func TestRestoreThroughSymlink(t *testing.T) {
	t.Parallel()
	store, dir := demoIn(t), t.TempDir()
	backup := filepath.Join(t.TempDir(), "copy.db")
	if out, code := Command(t, []string{"backup", backup}, store); code != 0 {
		t.Fatal(out)
	}
	behind, link := filepath.Join(dir, "real.db"), filepath.Join(t.TempDir(), "linkwatch.db")
	_, closeDB := OpenDatabase(t, behind)
	closeDB()
	if err := os.Symlink(behind, link); err != nil {
		t.Fatal(err)
	}
	out, code := Command(t, []string{"restore", backup, "--force"}, "DATABASE_URL="+link)
	if code != 0 || !strings.Contains(out, behind+".before-restore-") {
		t.Errorf("exit %d, %s", code, out)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("got %v, %v, want a symbolic link", info, err)
	}
	if len(Rows(t, behind, "SELECT id FROM links")) == 0 {
		t.Error("the database behind the symbolic link was not replaced")
	}
}

// The server refuses a database in the backup folder whose name looks like a backup, because old backups are deleted.
func TestDatabaseNamedLikeABackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, code := Command(t, []string{"serve"}, "BACKUP_DIR="+dir, "DATABASE_URL="+filepath.Join(dir, "linkwatch-20200101T000000Z.db"))
	if code != 1 || !strings.Contains(out, "rename the database, or set BACKUP_DIR to another folder") || listing(t, dir) != "" {
		t.Errorf("exit %d, %s; the folder has %s", code, out, listing(t, dir))
	}
}

// On PostgreSQL the commands say what to do, without the password.
func TestBackupOfPostgreSQL(t *testing.T) {
	t.Parallel()
	const store = "DATABASE_URL=postgres://me:s3cret@db.test:5433/links?sslmode=disable"
	for name, want := range map[string]string{
		"backup":  "pg_dump --format=custom --no-owner --file='it'\\''s' --host='db.test' --port=5433 --username='me' --dbname='links'",
		"restore": "--host='db.test' --port=5433 --username='me' --dbname='links' 'it'\\''s'",
	} {
		out, code := Command(t, []string{name, "it's"}, store)
		if code != 1 || !strings.Contains(out, want) || strings.Contains(out, "s3cret") {
			t.Errorf("%s: exit %d, %s", name, code, out)
		}
	}
	if out, code := Command(t, []string{"serve"}, store, "BACKUP_DIR=/tmp"); code != 1 || !strings.Contains(out, "BACKUP_DIR") || !strings.Contains(out, "pg_dump") {
		t.Errorf("BACKUP_DIR: exit %d, %s", code, out)
	}
}

// The server creates the first backup when it starts, and another one on request.
func TestScheduledBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := Start(t, "BACKUP_DIR="+dir)
	for n := 1; n <= 2; n++ {
		modelstest.Eventually(t, "there is another backup", func() bool {
			all, err := filepath.Glob(filepath.Join(dir, "linkwatch-*Z.db"))
			return err == nil && len(all) == n
		})
		if n == 1 {
			modelstest.Eventually(t, "a run is requested", func() bool { // not while the first run is being recorded, and not in the same second, because the name has seconds
				return time.Now().UTC().Format("linkwatch-20060102T150405Z.db") > newestIn(t, dir) && s.Call("POST", "/v1/admin/jobs/backup/run", nil, nil) < 300
			})
		}
	}
}

// newestIn returns the name of the newest backup in a folder.
func newestIn(t *testing.T, dir string) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "linkwatch-*Z.db"))
	if err != nil || len(all) == 0 {
		t.Fatal(err)
	}
	return filepath.Base(slices.Max(all))
}

// linkwatch health reports whether the server with the same settings is ready.
func TestHealthCommand(t *testing.T) {
	t.Parallel()
	s := Start(t)
	port := "HTTP_PORT=" + s.URL[strings.LastIndex(s.URL, ":")+1:]
	for _, host := range []string{"127.0.0.1", "0.0.0.0", "localhost"} {
		if out, code := Command(t, []string{"health"}, port, "HTTP_HOST="+host, "HTTP_PROXY=http://127.0.0.1:1"); code != 0 {
			t.Errorf("%s: exit %d, %s", host, code, out)
		}
	}
	other := httptest.NewServer(http.RedirectHandler(s.URL+"/readyz", http.StatusFound))
	defer other.Close()
	another := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "<h1>It works</h1>") }))
	defer another.Close()
	for of, want := range map[string]string{other.URL: "not ready: /readyz returned status 302", another.URL: "another program"} {
		if out, code := Command(t, []string{"health"}, "HTTP_PORT="+of[strings.LastIndex(of, ":")+1:]); code != 1 || !strings.Contains(out, want) {
			t.Errorf("another server on the port: exit %d, %s", code, out)
		}
	}
	if err := os.Remove(s.store); err != nil {
		t.Fatal(err)
	}
	if out, code := Command(t, []string{"health"}, port); code != 1 || !strings.Contains(out, "not ready") {
		t.Errorf("without its database: exit %d, %s", code, out)
	}
	s.Stop()
	if out, code := Command(t, []string{"health"}, port); code != 1 || !strings.Contains(out, "is not reachable") {
		t.Errorf("stopped server: exit %d, %s", code, out)
	}
}
