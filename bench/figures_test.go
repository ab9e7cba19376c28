package bench

import (
	"fmt"
	"io"
	"net/http"
	"slices"
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
