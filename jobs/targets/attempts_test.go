package targets_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"linkwatch/models/modelstest"
	"linkwatch/models/targets"
	"linkwatch/outbound"
)

// answer is a site and the expected result of its check.
type answer struct {
	url      string
	status   int
	attempts int
	problem  string // "" = up
}

// brings checks each site once and compares the results with the expected ones.
func (w world) brings(o outbound.Options, cases map[string]answer) {
	w.Helper()
	w.start(2*len(cases), o)
	names := map[string]string{}
	for name, tc := range cases {
		names[w.add(tc.url)[0]] = name
	}
	for _, r := range w.recorded(len(cases)) {
		want := cases[names[r.TargetID]]
		if r.StatusCode != want.status || r.Attempts != want.attempts || r.Error != want.problem ||
			(r.Outcome == targets.UpOutcome) != (want.problem == "") {
			w.Errorf("%s: got %+v, want %+v", names[r.TargetID], r, want)
		}
	}
	w.free()
}

// The interval of a check that takes longer than the interval is its duration.
func TestIntervalOfASlowCheck(t *testing.T) {
	each(t, func(w world) {
		w.Store = targets.NewStore(w.db, nil, targets.Options{CheckInterval: 100 * time.Millisecond, Retention: time.Hour})
		w.start(1, outbound.Options{Timeout: time.Minute})
		w.add(w.site(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(502) }))
		modelstest.Eventually(w, "a result", func() bool { return len(w.results()) > 0 })
		if r := w.results()[0]; r.Attempts != 3 || r.IntervalMS < 600 {
			w.Errorf("%d attempts with delays of 200 and 400 ms have an interval of %d ms", r.Attempts, r.IntervalMS)
		}
	})
}

// Each failure is recorded as a result with a short, stable error. Network errors
// are tried three times, other failures once.
func TestErrorHandling(t *testing.T) {
	each(t, func(w world) {
		redirect := func(to string) string {
			return w.site(func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, to+r.URL.Path, http.StatusFound) })
		}
		w.brings(outbound.Options{Timeout: time.Minute}, map[string]answer{
			"fine":                 {w.site(func(http.ResponseWriter, *http.Request) {}), 200, 1, ""},
			"not found":            {w.site(http.NotFound), 404, 1, "unexpected status 404"},
			"server error":         {w.site(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(502) }), 502, 3, "unexpected status 502"},
			"no such host":         {"http://nowhere.invalid", 0, 3, "host not found"}, // RFC 6761: no such name is ever there
			"refused":              {closedPort(w), 0, 3, "connection refused"},
			"reset":                {raw(w, func(c *net.TCPConn) { _ = c.SetLinger(0) }), 0, 3, "connection reset"},
			"hung up":              {raw(w, func(*net.TCPConn) {}), 0, 3, "connection closed early"},
			"not HTTP":             {raw(w, func(c *net.TCPConn) { _, _ = io.WriteString(c, "SSH-2.0\r\n\r\n") }), 0, 3, "bad HTTP response"},
			"private":              {"http://10.0.0.1", 0, 1, "address not allowed"},
			"led to private":       {redirect("http://10.0.0.1"), 0, 1, "address not allowed"},
			"led in circles":       {redirect("/x"), 0, 1, "too many redirects"},
			"led elsewhere":        {redirect("ftp://example.com"), 0, 1, "redirect not allowed"},
			"unknown certificate":  {secure(w, nil), 0, 3, "TLS: certificate is from an unknown authority"},
			"old TLS":              {secure(w, &tls.Config{MaxVersion: tls.VersionTLS10}), 0, 3, "TLS: handshake failed"},
			"no TLS":               {"https" + strings.TrimPrefix(w.site(http.NotFound), "http"), 0, 3, "TLS: the server does not support TLS"},
			"body breaks off":      {w.site(func(rw http.ResponseWriter, _ *http.Request) { promise(rw, 100) }), 0, 3, "connection closed early"},
			"body of great length": {w.site(func(rw http.ResponseWriter, r *http.Request) { promise(rw, 1<<40); pour(rw, r) }), 200, 1, ""},
			"body without end":     {w.site(pour), 200, 1, "the body is too long"},
		})
	})
}

// A host can hang in each phase of a request.
func TestTimeouts(t *testing.T) {
	each(t, func(w world) {
		hang := func(r *http.Request) { <-r.Context().Done() } // until the client hangs up
		w.brings(outbound.Options{Timeout: 100 * time.Millisecond}, map[string]answer{
			"dial":   {fullPort(w), 0, 3, "timed out"},
			"TLS":    {strings.Replace(raw(w, func(c *net.TCPConn) { _, _ = io.Copy(io.Discard, c) }), "http:", "https:", 1), 0, 3, "timed out"},
			"header": {w.site(func(_ http.ResponseWriter, r *http.Request) { hang(r) }), 0, 3, "timed out"},
			"body":   {w.site(func(rw http.ResponseWriter, r *http.Request) { promise(rw, 100); hang(r) }), 0, 3, "timed out"},
			"body, slow": {w.site(func(rw http.ResponseWriter, r *http.Request) {
				drip := time.NewTicker(10 * time.Millisecond)
				defer drip.Stop()
				for r.Context().Err() == nil {
					_, _ = io.WriteString(rw, "x")
					_ = http.NewResponseController(rw).Flush()
					<-drip.C
				}
			}), 0, 3, "timed out"},
		})
		for _, r := range w.results() {
			if r.LatencyMS < 100 || r.LatencyMS > 60_000 {
				w.Errorf("%d ms, want those of the last attempt", r.LatencyMS)
			}
		}
	})
}

// 5xx and network errors are retried after 200 and 400 ms. The result is that of
// the last attempt.
func TestRetries(t *testing.T) {
	each(t, func(w world) {
		var mu sync.Mutex
		asked := map[string][]time.Time{}
		s := w.site(func(rw http.ResponseWriter, r *http.Request) {
			mu.Lock()
			asked[r.URL.Path] = append(asked[r.URL.Path], time.Now())
			n := len(asked[r.URL.Path])
			mu.Unlock()
			switch {
			case r.URL.Path == "/never" || r.URL.Path == "/second" && n < 2 || r.URL.Path == "/third" && n < 3:
				rw.WriteHeader(http.StatusServiceUnavailable)
			case r.URL.Path == "/client" || r.URL.Path == "/worse" && n > 1:
				rw.WriteHeader(http.StatusForbidden)
			case r.URL.Path == "/worse":
				rw.WriteHeader(http.StatusInternalServerError)
			}
		})
		// On its own host, because net/http retries requests on reused connections itself.
		var broke atomic.Bool
		breaks := w.site(func(http.ResponseWriter, *http.Request) {
			if !broke.Swap(true) {
				panic(http.ErrAbortHandler)
			}
		})
		w.brings(outbound.Options{Timeout: time.Minute}, map[string]answer{
			"at once":       {s + "/first", 200, 1, ""},
			"second time":   {s + "/second", 200, 2, ""},
			"third time":    {s + "/third", 200, 3, ""},
			"never":         {s + "/never", 503, 3, "unexpected status 503"},
			"after a reset": {breaks, 200, 2, ""},
			"4xx":           {s + "/client", 403, 1, "unexpected status 403"},
			"5xx, then 4xx": {s + "/worse", 403, 2, "unexpected status 403"},
		})
		mu.Lock()
		defer mu.Unlock()
		at := asked["/never"]
		if len(at) != 3 || at[1].Sub(at[0]) < 200*time.Millisecond || at[2].Sub(at[1]) < 400*time.Millisecond {
			w.Errorf("asked at %v", at)
		}
		if n := w.metric("linkwatch_check_retries_total"); n != 7 {
			w.Errorf("%v retries, want 7", n)
		}
	})
}

// Expectations determine the outcome and the retries.
func TestExpectations(t *testing.T) {
	each(t, func(w world) {
		w.start(8, outbound.Options{Timeout: time.Minute})
		page := w.site(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "text/html; charset=windows-1252")
			_, _ = io.WriteString(rw, strings.Repeat(" ", 100_000)+"All is well in the caf\xe9")
		})
		stream := w.site(func(rw http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(rw, "ready"); pour(rw, r) })
		broken := w.site(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusNotImplemented) })
		for _, tc := range []struct {
			url    string
			expect targets.Expect
			answer
		}{
			{page, targets.Expect{Keyword: "is well", KeywordAbsent: "broken"}, answer{status: 200, attempts: 1}},
			{page, targets.Expect{Keyword: "café"}, answer{status: 200, attempts: 1}},
			{page, targets.Expect{Keyword: "is fine"}, answer{status: 200, attempts: 1, problem: "keyword not found"}},
			{page, targets.Expect{Keyword: "All", KeywordAbsent: "caf"}, answer{status: 200, attempts: 1, problem: "unwanted keyword found"}},
			{stream, targets.Expect{Keyword: "ready"}, answer{status: 200, attempts: 1}},
			{stream, targets.Expect{KeywordAbsent: "broken"}, answer{status: 200, attempts: 1, problem: "the body is too long"}},
			{broken, targets.Expect{Status: "501"}, answer{status: 501, attempts: 1}},
			{broken, targets.Expect{}, answer{status: 501, attempts: 3, problem: "unexpected status 501"}},
		} {
			before := len(w.results())
			_, _, err := w.Add(w.Context(), targets.New{URL: fmt.Sprintf("%s/%d", tc.url, before), Expect: tc.expect})
			w.must(err)
			r := w.recorded(before + 1)[before]
			if r.StatusCode != tc.status || r.Attempts != tc.attempts || r.Error != tc.problem {
				w.Errorf("%+v: got %+v, want %+v", tc.expect, r, tc.answer)
			}
		}
	})
}

// raw serves connections without HTTP, after it reads the header of each request.
func raw(w world, serve func(c *net.TCPConn)) string {
	w.Helper()
	l := listen(w)
	var served sync.WaitGroup
	served.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				defer func() { _ = c.Close() }()
				first := make([]byte, 1)
				if _, err := c.Read(first); err == nil && first[0] == 'G' { // not of a TLS handshake
					in := bufio.NewReader(c)
					for line := "?"; err == nil && line != "\r\n"; {
						line, err = in.ReadString('\n')
					}
				}
				serve(c.(*net.TCPConn))
			})
		}
	})
	w.Cleanup(func() { _ = l.Close(); served.Wait() })
	return "http://" + l.Addr().String()
}

func listen(w world) net.Listener {
	w.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	w.must(err)
	return l
}

// closedPort returns a port that refuses connections. A socket keeps it, so that no other server gets it.
func closedPort(w world) string {
	w.Helper()
	_, address := bound(w)
	return "http://" + address
}

// bound returns a socket with a port, on which nothing listens.
func bound(w world) (fd int, address string) {
	w.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	w.must(err)
	w.Cleanup(func() { _ = syscall.Close(fd) })
	w.must(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	at, err := syscall.Getsockname(fd)
	w.must(err)
	return fd, fmt.Sprintf("127.0.0.1:%d", at.(*syscall.SockaddrInet4).Port)
}

// fullPort returns a port whose accept queue is full.
func fullPort(w world) string {
	w.Helper()
	fd, address := bound(w)
	w.must(syscall.Listen(fd, 0))
	for {
		c, err := net.DialTimeout("tcp", address, 100*time.Millisecond)
		if err != nil {
			return "http://" + address
		}
		w.Cleanup(func() { _ = c.Close() })
	}
}

// secure serves with a self-signed certificate.
func secure(w world, c *tls.Config) string {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = c
	s.StartTLS()
	w.Cleanup(s.Close)
	return s.URL
}

// promise sends the header and the beginning of a body of a length.
func promise(rw http.ResponseWriter, length int) {
	rw.Header().Set("Content-Length", fmt.Sprint(length))
	_, _ = io.WriteString(rw, "begun")
	_ = http.NewResponseController(rw).Flush()
}

// pour writes until the connection is closed.
func pour(rw http.ResponseWriter, _ *http.Request) {
	for piece := make([]byte, 64<<10); ; {
		if _, err := rw.Write(piece); err != nil {
			return
		}
	}
}
