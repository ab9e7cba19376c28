//go:build !race

// Not with the race detector: it makes sync.Pool drop items at random, which adds allocations.

package shortlinks_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/handlers/middleware"
	"linkwatch/models/shortlinks"
)

// discard is a response of which only the header is kept, as in the server of net/http.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
func (d *discard) WriteHeader(int)             {}

// lines formats the log lines of requests as the program does.
type lines struct {
	*slog.JSONHandler
	line []byte
}

func (l *lines) LogRequest(line middleware.RequestLine) { l.line, _ = line.AppendJSON(l.line[:0]) }

// visitOf returns a function that sends one request of a visitor to the router, with request log and metrics.
func visitOf(t testing.TB) func() {
	t.Helper()
	a := apptest.New(t, func(s *apptest.Setup) { s.Log = slog.New(&lines{JSONHandler: slog.NewJSONHandler(io.Discard, nil)}) })
	_, _, err := a.ShortLinks.Add(t.Context(), shortlinks.New{LongURL: longURL, Key: "abcd"})
	a.Must(err)
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080/s/abcd", nil)
	r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0")
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Referer", "https://news.example/")
	w := &discard{http.Header{}}
	visit := func() {
		w.header = http.Header{} // as net/http, which makes one for each response
		a.Router.ServeHTTP(w, r)
	}
	visit() // reads the short link into the cache
	if got := w.header.Get("Location"); got != longURL {
		t.Fatalf("got Location %q, want %q", got, longURL)
	}
	return visit
}

// TestRedirectAllocates counts the allocations of a redirect beyond those of net/http: its ID, the values of the headers
// X-Request-Id and Location, and two for the map of the headers. With more than eight headers at a time the map would grow.
func TestRedirectAllocates(t *testing.T) {
	if n := testing.AllocsPerRun(1000, visitOf(t)); n > 5.5 { // the queue of visits grows now and then
		t.Errorf("got %.1f allocations, want 5", n)
	}
}

func BenchmarkRedirect(b *testing.B) {
	visit := visitOf(b)
	b.ReportAllocs()
	for b.Loop() {
		visit()
	}
}
