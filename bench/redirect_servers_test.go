//go:build e2e

package bench

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"linkwatch/models/modelstest"
)

// bareTarget is the destination of the redirects.
const bareTarget = "https://example.com/some/page?of=a-length-that-is-usual"

// serveBare prints its address and serves redirects with plain net/http until its standard input is closed. It
// returns the exit code.
func serveBare() int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(listener.Addr())
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", bareTarget)
		w.WriteHeader(http.StatusFound)
	})}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // returns when it is closed
		_ = server.Close()
	}()
	_ = server.Serve(listener) // until it is closed
	return 0
}

// startBare starts serveBare in a separate process and returns its address and process id.
func startBare(t *testing.T) (address string, pid int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-bare-redirects")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error("bare server: ", err)
		}
	})
	address, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address), cmd.Process.Pid
}

// startNginx starts nginx, which responds to everything with 302; ok is false if it is not installed.
func startNginx(t *testing.T) (address string, ok bool) {
	t.Helper()
	if _, err := exec.LookPath("nginx"); err != nil {
		return "", false
	}
	address = freeAddress(t)
	dir := t.TempDir()
	config := fmt.Sprintf(`daemon off; worker_processes auto; pid %[1]s/pid; error_log %[1]s/error;
		events { worker_connections 512; }
		http { access_log %[1]s/access; client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f;
			uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s; keepalive_requests 1000000000;
			server { listen %[2]s; return 302 %[3]s; } }`, dir, address, bareTarget)
	if err := os.WriteFile(dir+"/nginx.conf", []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("nginx", "-p", dir, "-c", dir+"/nginx.conf")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // its output is not needed
	})
	untilListening(t, address)
	return address, true
}

// freeAddress returns a loopback address with a port that is free now.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

func untilListening(t *testing.T, address string) {
	t.Helper()
	modelstest.Eventually(t, "a server listens on "+address, func() bool {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return false
		}
		_ = conn.Close()
		return true
	})
}
