//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"linkwatch/models/modelstest"
)

// wire is a proxy for PostgreSQL. While it is held, it forwards no bytes and keeps connections open, like a server
// after SIGSTOP.
type wire struct {
	net.Listener
	mu   sync.Mutex
	held bool
	free sync.Cond

	connections atomic.Int64
}

// newWire starts a proxy for the server of a URL, and returns the URL through the proxy.
func newWire(t *testing.T, server string) (*wire, string) {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	to := u.Host
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{Listener: l}
	w.free.L = &w.mu
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			w.connections.Add(1)
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			go w.copy(near, far)
			go w.copy(far, near)
		}
	}()
	u.Host = l.Addr().String()
	return w, u.String()
}

func (w *wire) copy(to, from net.Conn) {
	defer to.Close()   //nolint:errcheck // the connection has ended
	defer from.Close() //nolint:errcheck // as above
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		w.mu.Lock()
		for w.held {
			w.free.Wait()
		}
		w.mu.Unlock()
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (w *wire) hold(held bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = held
	w.free.Broadcast()
}

// SIGTERM stops the server even if PostgreSQL hangs during startup.
func TestStopDuringStartup(t *testing.T) {
	t.Parallel()
	w, database := newWire(t, modelstest.NewPostgres(t))
	w.hold(true)
	t.Cleanup(func() { w.hold(false) })
	for _, args := range [][]string{{"serve"}, {"check"}} {
		before := w.connections.Load()
		cmd := exec.Command(binary, args...)
		cmd.Env = environ("DATABASE_URL="+database, "HTTP_PORT=0")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		modelstest.Eventually(t, "it connects", func() bool { return w.connections.Load() > before })
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		ended := make(chan struct{})
		go func() {
			_ = cmd.Wait() // the exit code depends on the progress of the startup
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(patience):
			_ = cmd.Process.Kill()
			t.Errorf("%s does not stop while it waits for PostgreSQL", args)
		}
	}
}

// While PostgreSQL hangs, every request gets 503 within 5 s. Afterwards everything works again.
func TestHangingPostgres(t *testing.T) {
	t.Parallel() // mostly waits
	w, database := newWire(t, modelstest.NewPostgres(t))
	web, s := site(t), Start(t, "DATABASE_URL="+database, "CHECK_INTERVAL=1h")
	saved := s.save(web.URL+"/go-memory", "go")
	var short struct {
		Key string `json:"short_key"`
	}
	s.Call("POST", "/v1/shortlinks", map[string]any{"long_url": "https://go.dev/", "short_key": "warm-key"}, &short)
	w.hold(true)
	t.Cleanup(func() { w.hold(false) })
	var all sync.WaitGroup
	for _, r := range []struct{ method, path, body string }{
		{"GET", "/readyz", ""}, {"GET", "/health", ""}, {"GET", "/v1/links", ""}, {"GET", "/v1/search?q=go", ""}, {"GET", "/v1/targets", ""},
		{"GET", "/v1/link/" + saved.ID, ""}, {"GET", "/v1/shortlinks/warm-key/stats", ""}, {"GET", "/v1/admin/cleanup/stats", ""},
		{"GET", "/", ""}, {"GET", "/links", ""}, {"GET", "/watch", ""}, {"GET", "/short", ""}, {"GET", "/tags", ""}, {"GET", "/s/cold-key", ""},
		{"POST", "/v1/shortlinks", `{"long_url": "https://go.dev/x"}`}, {"POST", "/v1/targets", `{"url": "https://go.dev/"}`},
		{"PATCH", "/v1/shortlinks/warm-key", `{"disabled": true}`}, {"DELETE", "/v1/link/" + saved.ID, ""},
		{"POST", "/v1/links", fmt.Sprintf(`{"url": %q}`, web.URL+"/sqlite-pages")}, {"PUT", "/v1/link/" + saved.ID, ""},
	} {
		all.Go(func() {
			req, err := http.NewRequest(r.method, s.URL+r.path, strings.NewReader(r.body))
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("Content-Type", "application/json")
			started := time.Now()
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Errorf("%s %s: %v", r.method, r.path, err)
				return
			}
			defer res.Body.Close()
			content, _ := io.ReadAll(res.Body)
			// The promise is 5 s; the rest is for a busy machine.
			if took := time.Since(started); res.StatusCode != http.StatusServiceUnavailable || took > 8*time.Second {
				t.Errorf("%s %s: got status %d after %s: %s", r.method, r.path, res.StatusCode, took, content)
			}
		})
	}
	all.Wait()
	w.hold(false)
	modelstest.Eventually(t, "it is ready again", s.ready)
	s.isStored()
	var l link
	if status := s.Call("GET", "/v1/link/"+saved.ID, nil, &l); status != http.StatusOK {
		t.Errorf("link whose deletion was not acknowledged: got status %d", status)
	}
}
