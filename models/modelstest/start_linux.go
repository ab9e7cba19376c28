package modelstest

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Start starts a program that the kernel kills when the process of the tests ends, also without cleanup. The channel is
// closed when the program has ended.
//
// The kernel watches the thread that starts the program, and Go can end a thread before the process does: go.dev/issue/27505.
// So the goroutine stays on its thread until the program ends.
func Start(cmd *exec.Cmd) (ended <-chan struct{}, err error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	started, done := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(done)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // tests kill it, which is an error
		}
	}()
	return done, <-started
}
