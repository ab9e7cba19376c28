package e2e

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"
)

// command runs a subcommand and returns its output and its exit code.
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

// kill ends the process without warning (SIGKILL).
func (s *Server) kill() {
	s.t.Helper()
	s.signal(syscall.SIGKILL)
	_ = s.wait() // "signal: killed"
}
