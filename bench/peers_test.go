//go:build e2e

package bench

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"linkwatch/e2e"
)

var peerProgram = flag.String("peer", "", "`file` of the other program for TestPeerFigures; the scripts in bench/peers install it")

const peerRounds = 3

// TestPeerFigures compares another program with Linkwatch. Both do the same work in turn, peerRounds times. It asserts no
// times.
func TestPeerFigures(t *testing.T) {
	if !*figures || *peerProgram == "" {
		t.Skip("skipped without -figures and -peer (bench/peers/run.sh)")
	}
	t.Run("blackbox_exporter", blackboxFigures)
	t.Run("monit", monitFigures)
	t.Run("buku", bukuFigures)
	t.Run("katana", katanaFigures)
}

// comparison has the results of both programs, by measurement.
type comparison struct {
	names   []string
	formats map[string]string
	results map[string][3][]float64 // of the other program, Linkwatch and the baseline
}

// add adds the results of a round. The baseline is optional.
func (c *comparison) add(name, format string, peer, linkwatch float64, baseline ...float64) {
	if c.results == nil {
		c.results, c.formats = map[string][3][]float64{}, map[string]string{}
	}
	r, ok := c.results[name]
	if !ok {
		c.names = append(c.names, name)
	}
	c.formats[name] = format
	c.results[name] = [3][]float64{append(r[0], peer), append(r[1], linkwatch), append(r[2], baseline...)}
}

// print prints the medians, one row per measurement.
func (c *comparison) print() {
	for _, name := range c.names {
		fmt.Printf("| %s |", name)
		for _, values := range c.results[name] {
			if len(values) == 0 {
				fmt.Print(" |")
				continue
			}
			slices.Sort(values)
			fmt.Printf(" "+c.formats[name]+" |", values[len(values)/2])
		}
		fmt.Println()
	}
}

// peerCommand returns a command of the other program that runs in an empty folder, with its output in a file there.
func peerCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(*peerProgram, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + cmd.Dir}
	out, err := os.Create(filepath.Join(cmd.Dir, "output"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Close() })
	cmd.Stdout, cmd.Stderr = out, out
	return cmd
}

// startPeer starts the other program as a server. stop stops it with SIGTERM.
func startPeer(t *testing.T, args ...string) (pid int, stop func()) {
	t.Helper()
	cmd := peerCommand(t, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Errorf("stop %s: %v", *peerProgram, err)
		}
		_ = cmd.Wait() // programs differ in their exit code after SIGTERM
	}
	t.Cleanup(stop)
	return cmd.Process.Pid, stop
}

// runCost is the cost of a run of a program.
type runCost struct {
	cpu    float64 // user and system, in seconds
	memory float64 // the maximum, in MB
}

// runToEnd runs a command until it exits.
func runToEnd(t *testing.T, cmd *exec.Cmd) (c runCost) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		select {
		case err := <-ended:
			tick.Stop()
			if err != nil {
				out, readErr := os.ReadFile(filepath.Join(cmd.Dir, "output"))
				t.Fatalf("%s: %v\n%s", cmd.Path, errors.Join(err, readErr), out)
			}
			c.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
			return c
		case <-tick.C:
			if size, err := e2e.MemoryOf(cmd.Process.Pid, "VmHWM"); err == nil { // else it has just exited
				c.memory = max(c.memory, float64(size)/1e6)
			}
		}
	}
}
