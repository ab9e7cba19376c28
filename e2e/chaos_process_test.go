//go:build e2e

package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a program that the chaos test starts, pauses and kills.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when the program has ended
}

// launch starts a program in its own process group. The kernel kills it if the test
// ends without cleanup.
func launch(cmd *exec.Cmd) (*process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Pdeathsig = true, syscall.SIGKILL
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	go func() { // returns when the program ends
		_ = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// family returns the process ids of the program and its descendants. It does not use
// sessions, because each PostgreSQL backend has its own.
func (p *process) family() []int {
	children := map[int][]int{}
	stats, _ := os.ReadDir("/proc")
	for _, dir := range stats {
		pid, err := strconv.Atoi(dir.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // the process has ended
		}
		// pid (name) state ppid …; the name can contain spaces and parentheses.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	pids := []int{p.cmd.Process.Pid}
	for i := 0; i < len(pids); i++ {
		pids = append(pids, children[pids[i]]...)
	}
	return pids
}

// pause stops the program and then its descendants, so that it starts no new ones.
func (p *process) pause() {
	_ = syscall.Kill(p.cmd.Process.Pid, syscall.SIGSTOP)
	p.signal(syscall.SIGSTOP)
}

func (p *process) resume() { p.signal(syscall.SIGCONT) }

func (p *process) signal(sig syscall.Signal) {
	if p.hasEnded() {
		return
	}
	for _, pid := range p.family() {
		_ = syscall.Kill(pid, sig) // the process may have ended
	}
}

// kill kills the program and its descendants with SIGKILL.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.ended
}

// end sends sig to a program, and kills it after ten seconds.
func (p *process) end(sig syscall.Signal) {
	p.resume()
	_ = p.cmd.Process.Signal(sig)
	select {
	case <-p.ended:
	case <-time.After(10 * time.Second):
		p.kill()
	}
}

// exitCode returns the exit code of a program that has ended; -1 after a signal.
func (p *process) exitCode() int {
	<-p.ended
	return p.cmd.ProcessState.ExitCode()
}

// freePort returns a port below the ephemeral ports, so that no client uses it while a
// program is restarted.
func freePort(t testing.TB) int {
	t.Helper()
	for port := 15000 + os.Getpid()%10000; port < 32000; port++ {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		_ = l.Close()
		if _, taken := takenPorts.LoadOrStore(port, true); !taken {
			return port
		}
	}
	t.Fatal("no free port")
	return 0
}

var takenPorts sync.Map // by freePort

// tail keeps the last lines of the output of a program. It is safe for concurrent use.
type tail struct {
	mu    sync.Mutex
	lines []string
	part  string // of a line
}

const maxTail = 20_000 // lines

// Write implements io.Writer.
func (l *tail) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := strings.Split(l.part+string(b), "\n")
	l.part = lines[len(lines)-1]
	l.lines = append(l.lines, lines[:len(lines)-1]...)
	if over := len(l.lines) - maxTail; over > maxTail {
		l.lines = append([]string(nil), l.lines[over:]...)
	}
	return len(b), nil
}

// with returns the lines that contain a text.
func (l *tail) with(text string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}
