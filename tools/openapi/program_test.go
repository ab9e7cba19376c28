package openapi

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// binary is the program: the file that TEST_BINARY names with its whole path, or one that TestMain builds.
var binary = os.Getenv("TEST_BINARY")

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if binary != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "linkwatch-openapi-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "make a folder for the program:", err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a file may stay in the temporary folder
	binary = filepath.Join(dir, "linkwatch")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Dir, build.Stderr = "../..", os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the program:", err)
		return 1
	}
	return m.Run()
}

// start starts the program on a new database and returns its address. It stops the program when the test ends.
func start(t *testing.T) (address string) {
	t.Helper()
	cmd := exec.Command(binary)
	cmd.Env = []string{
		"DATABASE_URL=" + filepath.Join(t.TempDir(), "linkwatch.db"), "HTTP_PORT=0", "OUTBOUND_ALLOW_CIDRS=127.0.0.0/8", "LOG_FORMAT=json",
	}
	log, written, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = written, written
	err = errors.Join(cmd.Start(), written.Close())
	if err != nil {
		t.Fatal(err)
	}
	listens, ended := make(chan string, 1), make(chan struct{})
	go func() { // ends with the program
		defer close(ended)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			var line struct{ Msg, URL string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "listening" {
				listens <- line.URL
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // Wait has the error
		<-ended
		if err := errors.Join(cmd.Wait(), log.Close()); err != nil {
			t.Error("stop the program: ", err)
		}
	})
	select {
	case address = <-listens:
	case <-ended:
		t.Fatal("the program ended before it listened")
	}
	return address
}

func fetch(t *testing.T, url string) []byte {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // the read has the error
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: status %d, error %v", url, res.StatusCode, err)
	}
	return body
}
