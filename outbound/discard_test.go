package outbound

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestDiscard(t *testing.T) {
	bomb := gzipped(t, strings.Repeat("\x00", 1<<20))
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/short":
			w.Header().Set("Content-Type", "text/html; charset=windows-1252")
			_, _ = fmt.Fprint(w, strings.Repeat("\xe9", 1000))
		case "/broken":
			w.Header().Set("Content-Length", "500")
			_, _ = fmt.Fprint(w, "half")
		case "/stall":
			_, _ = fmt.Fprint(w, strings.Repeat("x", 1000))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb)
		}
	})
	c := testClient(t, Options{})
	for _, tc := range []struct {
		path      string
		max       int64
		truncated bool
	}{{"/short", 0, false}, {"/short", 1001, false}, {"/short", 1000, false}, {"/short", 999, true}, {"/empty", 0, false}, {"/bomb", 100_000, true}} {
		res := get(t, c, Request{URL: srv.URL + tc.path, MaxBytes: tc.max, Discard: true,
			Until: func([]byte) bool { t.Error("Until was called"); return true }})
		if res.Body != nil || res.Truncated != tc.truncated {
			t.Errorf("%+v: %d bytes, truncated %v", tc, len(res.Body), res.Truncated)
		}
	}
	_, err := c.Fetch(t.Context(), Request{URL: srv.URL + "/broken", Discard: true})
	fails(t, err, KindReset, "connection closed early")
	_, err = c.Fetch(t.Context(), Request{URL: srv.URL + "/stall", Discard: true, Timeout: 50 * time.Millisecond})
	fails(t, err, KindTimeout, "timed out")
	// A body that stalls exactly at the limit counts as longer.
	res := get(t, c, Request{URL: srv.URL + "/stall", Discard: true, MaxBytes: 1000, Timeout: 50 * time.Millisecond})
	if !res.Truncated {
		t.Error("a body of 1000 bytes and more is said to have ended")
	}
}

// A body with a too large Content-Length is not read, so a check does not download a video.
func TestDiscardLeavesWhatIsTooLong(t *testing.T) {
	var away atomic.Int64
	done := make(chan struct{})
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(1<<30))
		if r.Method == http.MethodGet {
			pour(1<<30, &away, done)(w, r)
		}
	})
	c := testClient(t, Options{Timeout: time.Minute})
	res := get(t, c, Request{URL: srv.URL, Discard: true})
	<-done
	if !res.Truncated || res.Header.Get("Content-Length") != strconv.Itoa(1<<30) || away.Load() > 16<<20 {
		t.Errorf("truncated %v, %d bytes away, %v", res.Truncated, away.Load(), res.Header)
	}
	if res = get(t, c, Request{URL: srv.URL, Discard: true, Method: http.MethodHead}); res.Truncated {
		t.Error("the answer to HEAD was cut short")
	}
}

// A checker requests the same hosts repeatedly. A connection is reused after its body was read to the end.
func TestConnectionsAreUsedAgain(t *testing.T) {
	const n = 100 // hosts, more than net/http keeps connections to on its own
	var opened atomic.Int64
	var sites []string
	for range n {
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat("x", 20_000))
		}))
		srv.Config.ConnState = countNew(&opened)
		srv.Start()
		t.Cleanup(srv.Close)
		sites = append(sites, srv.URL)
	}
	c := testClient(t, Options{})
	for range 3 {
		for _, site := range sites {
			get(t, c, Request{URL: site, Discard: true})
		}
	}
	// net/http gives a connection up when the goroutine that wrote to it does not run for 50 ms, as happens on a busy machine.
	if opened.Load() > n+n/20 {
		t.Errorf("%d connections to %d hosts", opened.Load(), n)
	}
}

func TestRetryAfterOfAnAnswer(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", r.URL.Query().Get("after"))
		status, _ := strconv.Atoi(r.URL.Query().Get("status"))
		w.WriteHeader(status)
	})
	for _, tc := range []struct {
		status int
		after  string
		want   time.Duration
	}{{429, "120", 2 * time.Minute}, {503, "7", 7 * time.Second}, {429, "86400", time.Hour}, {429, "", 0}, {503, "soon", 0}, {200, "120", 0}, {500, "120", 0}} {
		c := testClient(t, Options{}) // none knows of the pauses before
		res := get(t, c, Request{URL: fmt.Sprintf("%s/?status=%d&after=%s", srv.URL, tc.status, tc.after)})
		if res.RetryAfter != tc.want {
			t.Errorf("%+v: got %v", tc, res.RetryAfter)
		}
	}
}

func countNew(n *atomic.Int64) func(net.Conn, http.ConnState) {
	return func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			n.Add(1)
		}
	}
}
