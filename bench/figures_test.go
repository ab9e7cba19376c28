//go:build e2e

package bench

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"linkwatch/e2e"
)

// table prints the title and head of a table.
func table(title string, args ...any) {
	fmt.Printf("\n"+title+"\n\n", args...)
	row("measurement", "target", "result")
	row("---", "---", "---")
}

func row(name, target, format string, args ...any) {
	fmt.Printf("| %s | %s | %s |\n", name, fmt.Sprintf(format, args...), target)
}

// timeGET sends a GET and returns the time to the end of the response, in milliseconds.
func timeGET(t *testing.T, url string) float64 {
	t.Helper()
	started := time.Now()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s, %v", url, res.Status, err)
	}
	return time.Since(started).Seconds() * 1000
}

// quantiles prints the p50 and p95 of times in milliseconds as a row.
func quantiles(name, target string, all []float64) {
	slices.Sort(all)
	row(name, target, "p50 %.1f, p95 %.1f ms", all[len(all)/2], all[len(all)*95/100])
}

// samples is the number of requests per row of measure.
const samples = 200

// measure sends GETs one after the other and prints their times as a row.
func measure(t *testing.T, name, target string, url func() string) {
	t.Helper()
	all := make([]float64, 0, samples)
	for range samples {
		all = append(all, timeGET(t, url()))
	}
	quantiles(name, target, all)
}

func measurePath(t *testing.T, s *e2e.Server, name, target, path string) {
	t.Helper()
	measure(t, name, target, fixed(s.URL+path))
}

func fixed(text string) func() string { return func() string { return text } }

func untilReady(t *testing.T, s *e2e.Server) {
	t.Helper()
	for s.Call("GET", "/readyz", nil, nil) != http.StatusOK {
		time.Sleep(time.Millisecond)
	}
}

// address returns the host and port of the server.
func address(s *e2e.Server) string { return strings.TrimPrefix(s.URL, "http://") }

// cpuOf returns the user and system CPU time of a process since its start.
func cpuOf(t *testing.T, pid int) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // after the name, which can contain spaces
	fields := strings.Fields(rest)
	var ticks int64
	for _, f := range fields[11:13] { // fields 14 and 15: utime and stime
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * (time.Second / 100) // USER_HZ is 100 on all platforms of Go
}

// metric returns the sum of a metric over all its labels.
func metric(t *testing.T, s *e2e.Server, name string) (sum float64) {
	t.Helper()
	res, err := http.Get(s.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		sample, value, _ := strings.Cut(lines.Text(), " ")
		if bare, _, _ := strings.Cut(sample, "{"); bare != name {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += v
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return sum
}
