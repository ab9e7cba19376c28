//go:build e2e

package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// bare is the result of getBare.
type bare struct {
	Requests int64
	Seconds  float64
	CPU      float64 // user and system, in seconds
}

const bareSeconds = 10

// getBare sends GETs of the URLs in a file, one per line, and prints the result. It sends figureWorkers requests at
// a time, on keep-alive connections. It returns the exit code.
func getBare(file string) int {
	list, err := os.ReadFile(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, "reading the addresses:", err)
		return 1
	}
	urls := strings.Fields(string(list))
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{MaxIdleConns: 1024, MaxIdleConnsPerHost: figureWorkers}}
	var next, failed atomic.Int64
	started := time.Now()
	var group sync.WaitGroup
	for range figureWorkers {
		group.Go(func() {
			for time.Since(started) < bareSeconds*time.Second {
				res, err := client.Get(urls[int(next.Add(1))%len(urls)])
				if err != nil {
					failed.Add(1)
					continue
				}
				if _, err := io.Copy(io.Discard, res.Body); err != nil {
					failed.Add(1)
				}
				_ = res.Body.Close() // it was read completely
			}
		})
	}
	group.Wait()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil || failed.Load() > 0 {
		fmt.Fprintln(os.Stderr, failed.Load(), "requests failed;", err)
		return 1
	}
	cpu := time.Duration(used.Utime.Nano() + used.Stime.Nano())
	if err := json.NewEncoder(os.Stdout).Encode(bare{next.Load(), time.Since(started).Seconds(), cpu.Seconds()}); err != nil {
		return 1
	}
	return 0
}

// runBare runs getBare in a separate process.
func runBare(t *testing.T, urls []string) (b bare) {
	t.Helper()
	file := t.TempDir() + "/urls"
	if err := os.WriteFile(file, []byte(strings.Join(urls, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(self, "-bare-gets", file).Output()
	if err != nil {
		t.Fatal("bare GETs: ", err)
	}
	if err := json.Unmarshal(out, &b); err != nil {
		t.Fatal(err)
	}
	return b
}
