//go:build e2e

package bench

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// load describes requests over keep-alive connections. Each connection sends one request after the other.
type load struct {
	Address     string // host:port
	Path        string // contains %d, the number of a key
	Keys        int    // number of keys, requested one after the other
	Step        int    // between the numbers of two keys; 0 = 1
	Connections int
	Seconds     float64 // 0 = until each key was requested once
	Rate        float64 // requests per second, at even intervals; 0 = no limit
	Status      string  // expected status: "302"
}

// loaded is the result of a load. Times are in milliseconds. With a rate, they start when a request is due, so
// that they include the time that it waits for the previous request.
type loaded struct {
	Requests, Failed         int64
	PerSecond                float64
	P50, P99, P999, Greatest float64
}

// sendLoad sends the load that spec describes and prints the result. It returns the exit code.
func sendLoad(spec string) int {
	var l load
	if err := json.Unmarshal([]byte(spec), &l); err != nil {
		fmt.Fprintln(os.Stderr, "reading the load:", err)
		return 1
	}
	took := make([][]time.Duration, l.Connections)
	var next, failed atomic.Int64
	var why sync.Once
	started := time.Now()
	var group sync.WaitGroup
	for i := range l.Connections {
		group.Go(func() {
			err := l.connection(started, &next, &took[i])
			for ; err != nil && time.Since(started).Seconds() < l.Seconds; err = l.connection(started, &next, &took[i]) {
				failed.Add(1)
				why.Do(func() { fmt.Fprintln(os.Stderr, "a request failed:", err) })
			}
			if err != nil {
				failed.Add(1)
			}
		})
	}
	group.Wait()
	seconds := time.Since(started).Seconds()
	all := slices.Concat(took...)
	slices.Sort(all)
	at := func(q float64) float64 {
		if len(all) == 0 {
			return 0
		}
		return float64(all[min(int(q*float64(len(all))), len(all)-1)].Microseconds()) / 1000
	}
	r := loaded{int64(len(all)), failed.Load(), float64(len(all)) / seconds, at(.5), at(.99), at(.999), at(1)}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		return 1
	}
	return 0
}

// connection sends requests until the time is over or a request fails.
func (l load) connection(started time.Time, next *atomic.Int64, took *[]time.Duration) error {
	conn, err := net.Dial("tcp", l.Address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // no response is lost
	in := bufio.NewReader(conn)
	var request []byte
	for {
		n := next.Add(1) - 1
		due := time.Now()
		if l.Rate > 0 {
			due = started.Add(time.Duration(float64(n) / l.Rate * float64(time.Second)))
			time.Sleep(time.Until(due))
		}
		if l.Seconds > 0 && due.Sub(started).Seconds() >= l.Seconds || l.Seconds == 0 && n >= int64(l.Keys) {
			return nil
		}
		request = fmt.Appendf(request[:0], "GET "+l.Path+" HTTP/1.1\r\nHost: %s\r\n"+
			"User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n"+
			"Accept: text/html\r\nReferer: https://news.example/\r\n\r\n", n%int64(l.Keys)*int64(l.Step), l.Address)
		if _, err := conn.Write(request); err != nil {
			return err
		}
		if err := l.read(in); err != nil {
			return err
		}
		*took = append(*took, time.Since(due))
	}
}

// read reads one response to its end.
func (l load) read(in *bufio.Reader) error {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(line, []byte("HTTP/1.1 "+l.Status)) {
		return fmt.Errorf("unexpected status line %q", line)
	}
	length := 0
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) == 2 {
			break
		}
		if n, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(n))); err != nil {
				return err
			}
		}
	}
	_, err = in.Discard(length)
	return err
}

// send sends the load from a separate process.
func (l load) send(t *testing.T) (r loaded) {
	t.Helper()
	l.Connections = cmp.Or(l.Connections, 32)
	l.Keys, l.Step = max(l.Keys, 1), max(l.Step, 1)
	l.Status = cmp.Or(l.Status, "302")
	spec, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-load", string(spec))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal("load: ", err)
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	return r
}
