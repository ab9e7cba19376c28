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

// table prints the head of a table of figures.
func table(title string, args ...any) {
	fmt.Printf("\n"+title+"\n\n", args...)
	row("what", "bound", "measured")
	row("---", "---", "---")
}

func row(name, bound, format string, args ...any) {
	fmt.Printf("| %-49s | %-22s | %-16s |\n", name, fmt.Sprintf(format, args...), bound)
}

// took sends a GET and returns how long the whole response took, in milliseconds.
func took(t *testing.T, url string) float64 {
	t.Helper()
	begun := time.Now()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s, %v", url, res.Status, err)
	}
	return time.Since(begun).Seconds() * 1000
}

// quantiles prints the p50 and p95 of times in milliseconds as a row.
func quantiles(name, bound string, all []float64) {
	slices.Sort(all)
	row(name, bound, "p50 %.1f p95 %.1f ms", all[len(all)/2], all[len(all)*95/100])
}

// samples is the number of requests behind each row of measure.
const samples = 200

// measure prints how long GETs of the URLs take, one after the other, as a row.
func measure(t *testing.T, name, bound string, url func() string) {
	t.Helper()
	all := make([]float64, 0, samples)
	for range samples {
		all = append(all, took(t, url()))
	}
	quantiles(name, bound, all)
}

// measurePath measures one path of the program.
func measurePath(t *testing.T, s *e2e.Server, name, bound, path string) {
	t.Helper()
	measure(t, name, bound, fixed(s.URL+path))
}

// fixed returns a function that always returns text.
func fixed(text string) func() string { return func() string { return text } }

// untilReady waits until the program is ready.
func untilReady(t *testing.T, s *e2e.Server) {
	t.Helper()
	for s.Call("GET", "/readyz", nil, nil) != http.StatusOK {
		time.Sleep(time.Millisecond)
	}
}

// address returns the host and port of the program.
func address(s *e2e.Server) string { return strings.TrimPrefix(s.URL, "http://") }

// cpuOf returns the CPU time that a process has used so far, user and system.
func cpuOf(t *testing.T, pid int) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // behind the name, which may hold anything
	fields := strings.Fields(rest)
	var ticks int64
	for _, f := range fields[11:13] { // utime and stime, 14 and 15 of the whole
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * (time.Second / 100) // USER_HZ is 100 wherever Linux runs Go
}

// metric returns the sum of a metric over all of its labels.
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
