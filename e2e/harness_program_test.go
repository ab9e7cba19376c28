package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long anything may take before a test gives up on it. Nothing
// waits that long when all is well, on a machine however busy.
const patience = 30 * time.Second

// environ is what the program gets besides a test's own settings: nothing of
// the surroundings that could change it.
func environ(env ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LOG_FORMAT=json"}, env...)
}

// command runs a subcommand to its end and returns what it wrote and its exit code.
func command(t testing.TB, args []string, env ...string) (output string, code int) {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env = environ(env...)
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(out), 0
}

// server is a running program.
type server struct {
	t     testing.TB
	url   string // http://127.0.0.1:port
	store string // DATABASE_URL
	cmd   *exec.Cmd
	log   transcript
	ended chan struct{} // closed when the process is gone
	err   error         // how it ended; read it after ended
	dead  bool          // ended by the test: Cleanup has nothing to check
}

// transcript keeps what the program wrote; it is safe for concurrent use.
type transcript struct {
	mu    sync.Mutex
	lines []string
}

func (l *transcript) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *transcript) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// storeIn is a DATABASE_URL setting for a fresh SQLite file of the test's own.
func storeIn(t testing.TB) string {
	return "DATABASE_URL=" + filepath.Join(t.TempDir(), "linkwatch.db")
}

// start serves on a free port, with a fresh store unless env names one, and
// allowed to fetch from this machine. At the test's end the program must stop
// on SIGTERM with exit code 0.
func start(t testing.TB, env ...string) *server {
	t.Helper()
	env = environ(append([]string{storeIn(t), "HTTP_PORT=0", "OUTBOUND_ALLOW_CIDRS=127.0.0.0/8"}, env...)...)
	s := &server{t: t, cmd: exec.Command(binary), ended: make(chan struct{})}
	for _, e := range env { // the last one wins, as in the process itself
		if v, ok := strings.CutPrefix(e, "DATABASE_URL="); ok {
			s.store = v
		}
	}
	s.cmd.Env = env
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stderr = s.cmd.Stdout
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listening := make(chan string, 1)
	go s.read(out, listening) // ends with the process
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			t.Log("the program wrote:\n" + s.log.String())
		}
	})
	select {
	case s.url = <-listening:
	case <-s.ended:
		t.Fatalf("the program ended at its start: %v\n%s", s.err, s.log.String())
	case <-time.After(patience):
		t.Fatal("the program does not listen")
	}
	return s
}

// read follows the log until the process ends.
func (s *server) read(out io.Reader, listening chan<- string) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		s.log.add(lines.Text())
		var entry struct{ Msg, URL string }
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Msg == "listening" {
			listening <- entry.URL
		}
	}
	s.err = s.cmd.Wait()
	close(s.ended)
}

// stop sends SIGTERM and waits for a good end.
func (s *server) stop() {
	s.t.Helper()
	if s.dead {
		return
	}
	s.dead = true
	s.signal(syscall.SIGTERM)
	if err := s.wait(); err != nil {
		s.t.Errorf("after SIGTERM the program ended with: %v", err)
	}
}

// kill ends the process without a warning (SIGKILL).
func (s *server) kill() {
	s.t.Helper()
	s.dead = true
	s.signal(syscall.SIGKILL)
	_ = s.wait() // "signal: killed"
}

func (s *server) signal(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		s.t.Errorf("signalling the program: %v", err)
	}
}

// wait is how the process ended.
func (s *server) wait() error {
	s.t.Helper()
	select {
	case <-s.ended:
		return s.err
	case <-time.After(patience):
		_ = s.cmd.Process.Kill()
		<-s.ended
		s.t.Error("the program did not end in time; it was killed")
		return s.err
	}
}

var peakRSS = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peakMemory is the largest resident size the process had so far, in bytes.
func (s *server) peakMemory() int64 {
	s.t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/status")
	if err != nil {
		s.t.Fatal(err)
	}
	m := peakRSS.FindSubmatch(status)
	if m == nil {
		s.t.Fatal("the kernel tells no VmHWM")
	}
	kb, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return kb << 10
}

// eventually waits until is answers true, asking again and again.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	eventuallyWithin(t, patience, what, is)
}

// eventuallyWithin is eventually for what may take longer than the usual.
func eventuallyWithin(t testing.TB, limit time.Duration, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !is(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
		time.Sleep(10 * time.Millisecond) // only spares the processor: the condition decides
	}
}
