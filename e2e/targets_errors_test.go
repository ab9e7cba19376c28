//go:build e2e

package e2e

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"linkwatch/models/modelstest"
)

// rude calls serve with each connection, and closes the connections when the test ends.
func rude(t *testing.T, serve func(net.Conn)) (host string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var (
		mu      sync.Mutex
		open    []net.Conn
		serving sync.WaitGroup
	)
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // closed below
			}
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
			serving.Go(func() { serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		mu.Lock()
		for _, conn := range open {
			_ = conn.Close()
		}
		mu.Unlock()
		serving.Wait()
	})
	return listener.Addr().String()
}

// silent reads the request, sends these bytes and then nothing more.
func silent(response string) func(net.Conn) {
	return func(conn net.Conn) {
		buf := make([]byte, 4096)
		if _, err := conn.Read(buf); err != nil {
			return
		}
		if _, err := io.WriteString(conn, response); err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, conn) // until the client disconnects
	}
}

// abrupt resets the connection as soon as a request arrives.
func abrupt(conn net.Conn) {
	_, _ = conn.Read(make([]byte, 1))
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// unusedAddress returns an address on which nothing listens.
func unusedAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// fullBacklog returns an address that never accepts connections and whose accept queue is full.
func fullBacklog(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	bound, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	at, isV4 := bound.(*syscall.SockaddrInet4)
	if !isV4 {
		t.Fatalf("got socket address %v", bound)
	}
	address := fmt.Sprintf("127.0.0.1:%d", at.Port)
	for range 10 {
		conn, err := net.DialTimeout("tcp", address, 500*time.Millisecond)
		if err != nil {
			return address // the accept queue is full
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	t.Fatal("the accept queue does not fill")
	return ""
}

// Servers that fail in each phase of a check result in a short, stable error without an address.
func TestCheckErrors(t *testing.T) {
	t.Parallel() // waits for timeouts
	web := site(t)
	s := Start(t, "CHECK_INTERVAL=1h", "HTTP_TIMEOUT=500ms", "MAX_CONCURRENCY=64")
	secure := httptest.NewUnstartedServer(http.HandlerFunc(article))
	secure.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // TLS handshakes that should fail
	secure.StartTLS()
	t.Cleanup(secure.Close)
	plain := strings.TrimPrefix(web.URL, "http://")

	for name, c := range map[string]struct {
		url      string
		err      string // pattern of the whole error
		status   int
		attempts int
	}{
		"no such name":           {"http://nothing.invalid/", "host not found|host lookup failed|timed out", 0, 3},
		"refused":                {"http://" + unusedAddress(t) + "/", "connection refused", 0, 3},
		"reset":                  {"http://" + rude(t, abrupt) + "/", "connection (reset|closed early)", 0, 3},
		"closed":                 {web.set("/closed", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), "connection closed early", 0, 3},
		"an unknown authority":   {secure.URL + "/", "TLS: certificate is from an unknown authority", 0, 3},
		"no TLS":                 {"https://" + plain + "/", "TLS: the server does not support TLS", 0, 3},
		"TLS that ends":          {"https://" + rude(t, abrupt) + "/", "connection (reset|closed early)|TLS: handshake failed", 0, 3},
		"no connection":          {"http://" + fullBacklog(t) + "/", "timed out", 0, 3},
		"silent at TLS":          {"https://" + rude(t, silent("")) + "/", "timed out", 0, 3},
		"silent before the head": {"http://" + rude(t, silent("")) + "/", "timed out", 0, 3},
		"silent within the head": {"http://" + rude(t, silent("HTTP/1.1 200 OK\r\nX-A: ")) + "/", "timed out", 0, 3},
		"silent within the body": {"http://" + rude(t, silent("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf")) + "/", "timed out", 0, 3},
		"not HTTP":               {"http://" + rude(t, silent("SSH-2.0-OpenSSH_9.9\r\n\r\n")) + "/", "bad HTTP response", 0, 3},
		"an endless body":        {web.set("/endless", pour("and ", "so on ", 0)), "the body is too long", 200, 1},
		"a redirect loop":        {web.set("/loop", redirect(302, "/loop")), ".*redirect.*", 0, 1},
		"a redirect to a file":   {web.set("/file", redirect(302, "file:///etc/passwd")), ".*redirect.*", 0, 1},
		"a redirect inside":      {web.set("/inside", redirect(302, "http://10.0.0.1/")), "address not allowed", 0, 1},
		"a private address":      {"http://169.254.169.254/latest/meta-data", "address not allowed", 0, 1},
		"status 500":             {web.set("/500", status(500)), "unexpected status 500", 500, 3},
		"status 404":             {web.set("/404", status(404)), "unexpected status 404", 404, 1},
		"status 429":             {web.set("/429", status(429)), "throttled: status 429", 429, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			watched := s.addTarget(c.url)
			modelstest.Eventually(t, "the first check is stored", func() bool { return len(s.results(watched.ID)) > 0 })
			var next result
			if status := s.Call("POST", "/v1/targets/"+watched.ID+"/check", nil, &next); status != 200 && c.status != 429 { // a rate limited host gets no request
				t.Fatalf("check again: status %d", status)
			}
			whole := regexp.MustCompile("^(" + c.err + ")$")
			for i, r := range s.results(watched.ID) {
				if !whole.MatchString(r.Error) || r.StatusCode != c.status || r.Attempts != c.attempts {
					t.Errorf("check %d: got %+v, want %q, status %d, %d attempts", i, r, c.err, c.status, c.attempts)
				}
				if leak := regexp.MustCompile(`127\.|10\.0|169\.|:\d{2,5}|https?:|/`).FindString(r.Error); leak != "" || len(r.Error) > 60 {
					t.Errorf("the error %q contains %q or is too long", r.Error, leak)
				}
			}
			want := "down"
			if c.status == 429 {
				want = "pending" // a 429 does not change the status
			}
			if now := s.target(watched.ID); now.Status != want {
				t.Errorf("got status %s, want %s", now.Status, want)
			}
		})
	}
	t.Cleanup(func() {
		if status := s.Call("GET", "/readyz", nil, nil); status != 200 {
			t.Errorf("/readyz: got status %d", status)
		}
	})
}
