// Package e2e tests Linkwatch from outside: the real binary, over HTTP and in a real browser, against a website that
// the tests serve. Package bench uses the exported functions: they build and start the program, send API requests, and
// read and fill its database.
package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"linkwatch/models/disk"
	"linkwatch/models/modelstest"
)

// patience is how long a test waits for anything before it fails. It is long enough for a busy machine.
const patience = 30 * time.Second

// binary is the program under test; see Run.
var binary = os.Getenv("TEST_BINARY")

// Run runs the tests of m and returns the exit code. It is for TestMain. The program under test is the file that
// TEST_BINARY names with its whole path. If it is not set, Run builds the program.
func Run(m *testing.M) int {
	dir, err := os.MkdirTemp(os.Getenv("GOTMPDIR"), "linkwatch-e2e-") // as testing.T.TempDir does
	if err != nil {
		fmt.Fprintln(os.Stderr, "making a folder for the binary:", err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a file may stay in the temporary folder
	// On such a disk, /health and the overview of every test would report it.
	if filling := disk.On(dir, "").Filling(); len(filling) > 0 {
		fmt.Fprintf(os.Stderr, "the disk of %s is %d%% full: free some space, or set TMPDIR\n", dir, filling[0].Used())
		return 1
	}
	if binary != "" {
		return m.Run()
	}
	binary = filepath.Join(dir, "linkwatch")
	build := exec.Command("go", "build", "-o", binary, "linkwatch")
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building the program:", err)
		return 1
	}
	return m.Run()
}

// environ returns the environment of the program: the settings of a test, without variables of the test process that
// could change its behavior.
func environ(env ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LOG_FORMAT=json"}, env...)
}

// Server is a running program.
type Server struct {
	URL string // http://127.0.0.1:port

	t       testing.TB
	store   string // DATABASE_URL
	cmd     *exec.Cmd
	logFile string
	ended   chan struct{} // closed when the process is gone
	err     error         // how it ended; read it after ended
	awaited bool          // by the test, which judges how it ended
}

// storeIn returns a DATABASE_URL setting that names a new SQLite file.
func storeIn(t testing.TB) string {
	return "DATABASE_URL=" + filepath.Join(t.TempDir(), "linkwatch.db")
}

// Start starts the program and waits until it listens on a free port. Without a DATABASE_URL in env (NAME=value) it
// serves a new SQLite file. It may fetch from this machine. Its log goes to a file, as the log of a service does.
// When the test ends, Start stops the program as Stop does.
func Start(t testing.TB, env ...string) *Server {
	t.Helper()
	s := launchServer(t, env...)
	s.awaitListening()
	return s
}

// launchServer is Start without the wait.
func launchServer(t testing.TB, env ...string) *Server {
	t.Helper()
	s := &Server{t: t, cmd: exec.Command(binary), ended: make(chan struct{})}
	s.cmd.Env = environ(append([]string{storeIn(t), "HTTP_PORT=0", "OUTBOUND_ALLOW_CIDRS=127.0.0.0/8", "SHUTDOWN_GRACE=2s"}, env...)...)
	for _, e := range s.cmd.Env { // the last one wins, as in the process itself
		if v, ok := strings.CutPrefix(e, "DATABASE_URL="); ok {
			s.store = v
		}
	}
	if strings.HasPrefix(s.store, "postgres:") { // else all programs of a folder share a key file in it
		s.cmd.Env = append(s.cmd.Env, "SECRET_KEY=that of all instances of the tests")
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	s.logFile, s.cmd.Stdout, s.cmd.Stderr = log.Name(), log, log
	err = s.cmd.Start()
	_ = log.Close() // the process has its own
	if err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the process
		s.err = s.cmd.Wait()
		close(s.ended)
	}()
	t.Cleanup(func() {
		s.Stop()
		if t.Failed() {
			const limit = 1 << 20
			log := s.log()
			t.Log("the program wrote, at last:\n" + log[max(0, len(log)-limit):])
		}
	})
	return s
}

func (s *Server) awaitListening() {
	s.t.Helper()
	modelstest.Eventually(s.t, "the program listens", func() bool {
		select {
		case <-s.ended:
			s.t.Fatalf("the program exited at its start: %v", s.err)
		default:
		}
		return s.listens()
	})
}

// Command runs a subcommand of the program and returns its output and its exit code.
func Command(t testing.TB, args []string, env ...string) (output string, code int) {
	t.Helper()
	return CommandWith(t, "", args, env...)
}

// CommandWith is like Command, with text as standard input.
func CommandWith(t testing.TB, stdin string, args []string, env ...string) (output string, code int) {
	t.Helper()
	output, log, code := runCommand(t, stdin, args, env...)
	return output + log, code
}

// runCommand runs a command and returns its standard output, its log and its exit code.
func runCommand(t testing.TB, stdin string, args []string, env ...string) (output, log string, code int) {
	t.Helper()
	var stdout, stderr strings.Builder
	cmd := exec.Command(binary, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = environ(env...), strings.NewReader(stdin), &stdout, &stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String(), code
}

// listens reports whether the log says that the program listens, and sets the URL.
func (s *Server) listens() bool {
	for line := range strings.Lines(s.log()) {
		var entry struct{ Msg, URL string }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "listening" {
			s.URL = entry.URL
			return true
		}
	}
	return false
}

// log returns the log so far.
func (s *Server) log() string {
	s.t.Helper()
	written, err := os.ReadFile(s.logFile)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(written)
}

// Stop sends SIGTERM and waits until the program exits; its exit code must be 0. Stop does nothing if the test has
// ended the program before.
func (s *Server) Stop() {
	s.t.Helper()
	if s.awaited {
		return
	}
	s.signal(syscall.SIGTERM)
	if err := s.wait(); err != nil {
		s.t.Errorf("exit after SIGTERM: %v", err)
	}
}

// Kill ends the program without warning (SIGKILL).
func (s *Server) Kill() {
	s.t.Helper()
	s.signal(syscall.SIGKILL)
	_ = s.wait() // "signal: killed"
}

func (s *Server) signal(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.t.Errorf("signal program: %v", err)
	}
}

// wait waits until the process exits and returns its exit error. Stop then does not check the exit code.
func (s *Server) wait() error {
	s.t.Helper()
	s.awaited = true
	select {
	case <-s.ended:
		return s.err
	case <-time.After(patience):
		_ = s.cmd.Process.Kill()
		<-s.ended
		s.t.Error("the program did not exit in time and was killed")
		return s.err
	}
}

// PID returns the process id of the program.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Memory returns the resident memory of the program in bytes.
func (s *Server) Memory() int64 {
	s.t.Helper()
	return s.memory("VmRSS")
}

// AnonymousMemory returns the resident memory of the program that is not a mapped file, in bytes.
func (s *Server) AnonymousMemory() int64 {
	s.t.Helper()
	return s.memory("RssAnon")
}

// PeakMemory returns the largest resident memory that the program has had, in bytes.
func (s *Server) PeakMemory() int64 {
	s.t.Helper()
	return s.memory("VmHWM")
}

// memory returns a size from /proc/PID/status, in bytes.
func (s *Server) memory(name string) int64 {
	s.t.Helper()
	size, err := MemoryOf(s.PID(), name)
	if err != nil {
		s.t.Fatal(err)
	}
	return size
}

// MemoryOf returns a size from /proc/PID/status in bytes. VmRSS is the resident memory of a process, VmHWM its maximum.
func MemoryOf(pid int, name string) (size int64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), name+":")
	if _, err := fmt.Sscanf(strings.TrimSpace(rest), "%d kB", &size); err != nil {
		return 0, fmt.Errorf("read %s of process %d: %w", name, pid, err)
	}
	return size << 10, nil
}
