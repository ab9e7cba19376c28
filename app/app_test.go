package app

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// env is a getenv over a map, with a store of the test's own.
func env(t *testing.T, set map[string]string) func(string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "test.db")
	return func(name string) string {
		if v, ok := set[name]; ok {
			return v
		}
		return map[string]string{"HTTP_PORT": "0", "DATABASE_URL": file, "LOG_FORMAT": "json"}[name]
	}
}

// lines hands each line that is written to a channel.
type lines struct {
	mu   sync.Mutex
	rest string
	all  strings.Builder
	out  chan string
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all.Write(p)
	l.rest += string(p)
	for {
		line, rest, ok := strings.Cut(l.rest, "\n")
		if !ok {
			return len(p), nil
		}
		l.rest = rest
		select {
		case l.out <- line:
		default: // nobody reads the log to its end
		}
	}
}

// program is run() in the background.
type program struct {
	url  string
	stop context.CancelFunc
	done chan error
	log  *lines
}

// start starts run() and returns once it listens.
func start(t *testing.T, getenv func(string) string) *program {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p := &program{stop: cancel, done: make(chan error, 1), log: &lines{out: make(chan string, 1000)}}
	go func() { p.done <- Run(ctx, nil, getenv, p.log) }()
	deadline := time.After(30 * time.Second)
	for {
		select {
		case err := <-p.done:
			t.Fatalf("run ended: %v", err)
		case <-deadline:
			t.Fatal("run does not listen")
		case line := <-p.log.out:
			var entry struct{ Msg, URL string }
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "listening" {
				p.url = entry.URL
				return p
			}
		}
	}
}

func (p *program) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-p.done:
		return err
	case <-time.After(30 * time.Second):
		t.Fatal("run does not end")
		return nil
	}
}

func (p *program) get(t *testing.T, path string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// TestServe starts the program on a port of its choice, twice on one store.
func TestServe(t *testing.T) {
	getenv := env(t, nil)
	for range 2 {
		p := start(t, getenv)
		for path, want := range map[string]string{
			"/readyz": `"ok"`, "/v1/links": `"results":[]`, "/": "<html", "/metrics": "go_goroutines", "/v1/admin/jobs": `"items"`,
		} {
			if status, body := p.get(t, path); status != 200 || !strings.Contains(body, want) {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
		p.stop()
		if err := p.wait(t); err != nil {
			t.Errorf("run: %v", err)
		}
	}
}

// TestStopFinishesRequests: what was begun is answered after SIGTERM.
func TestStopFinishesRequests(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	site := newSite(t, func(w http.ResponseWriter) {
		close(entered)
		<-leave
		_, _ = io.WriteString(w, "<title>Slow but there</title>")
	})
	p := start(t, env(t, map[string]string{"OUTBOUND_ALLOW_CIDRS": "127.0.0.0/8"}))
	type answer struct {
		status int
		body   string
	}
	answered := make(chan answer, 1)
	go func() {
		res, err := http.Post(p.url+"/v1/links", "application/json", strings.NewReader(`{"url":"`+site+`"}`))
		if err != nil {
			answered <- answer{0, err.Error()}
			return
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		answered <- answer{res.StatusCode, string(b)}
	}()
	<-entered
	p.stop()
	for line := range p.log.out {
		if strings.Contains(line, `"stopping"`) {
			break
		}
	}
	close(leave)
	if a := <-answered; a.status != http.StatusCreated || !strings.Contains(a.body, "Slow but there") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if err := p.wait(t); err != nil {
		t.Errorf("run: %v", err)
	}
}

// TestStopHasAnEnd: a request that does not end is cut after SHUTDOWN_GRACE.
func TestStopHasAnEnd(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	site := newSite(t, func(http.ResponseWriter) {
		close(entered)
		<-leave
	})
	defer close(leave)
	p := start(t, env(t, map[string]string{"OUTBOUND_ALLOW_CIDRS": "127.0.0.0/8", "SHUTDOWN_GRACE": "50ms"}))
	go func() {
		res, err := http.Post(p.url+"/v1/links", "application/json", strings.NewReader(`{"url":"`+site+`"}`))
		if err == nil {
			res.Body.Close()
		}
	}()
	<-entered
	p.stop()
	if err := p.wait(t); err != nil {
		t.Errorf("run: %v", err)
	}
}

// TestStartErrors: what keeps the program from starting is told, without a trace.
func TestStartErrors(t *testing.T) {
	taken := start(t, env(t, nil))
	_, port, _ := strings.Cut(strings.TrimPrefix(taken.url, "http://"), ":")
	for name, c := range map[string]struct {
		set  map[string]string
		want string
	}{
		"a bad setting":        {map[string]string{"HTTP_PORT": "eighty"}, "HTTP_PORT"},
		"open to the world":    {map[string]string{"HTTP_HOST": "0.0.0.0"}, "ADMIN_PASSWORD"},
		"a taken port":         {map[string]string{"HTTP_PORT": port}, "address already in use"},
		"no place for a store": {map[string]string{"DATABASE_URL": "/nonexistent/x.db"}, "DATABASE_URL"},
	} {
		err := Run(t.Context(), []string{"serve"}, env(t, c.set), io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	taken.stop()
	if err := taken.wait(t); err != nil {
		t.Error(err)
	}
}

func TestPasswordIsAskedFor(t *testing.T) {
	for set, want := range map[string]int{"": 401, "true": 200} {
		p := start(t, env(t, map[string]string{"ADMIN_PASSWORD": "secret", "AUTH_DISABLED": set}))
		if status, _ := p.get(t, "/v1/links"); status != want {
			t.Errorf("AUTH_DISABLED=%s: %d, want %d", set, status, want)
		}
		p.stop()
		if err := p.wait(t); err != nil {
			t.Error(err)
		}
		if log := p.log.all.String(); strings.Contains(log, "secret") {
			t.Errorf("the password is in the log: %s", log)
		}
	}
}

func TestCommands(t *testing.T) {
	getenv := env(t, map[string]string{"ADMIN_PASSWORD": "secret"})
	for _, c := range []struct {
		args string
		want string // in the output
	}{
		{"help", "linkwatch [command]"},
		{"--help", "migrate"},
		{"version", "linkwatch "},
		{"config", "ADMIN_PASSWORD"},
		{"openapi", `"openapi": "3.1.0"`},
		{"openapi -3.0", `"openapi":"3.0.3"`},
		{"migrate up", "newest"},
		{"migrate down 1", "Migrations taken back: 1."},
	} {
		var out strings.Builder
		if err := Run(t.Context(), strings.Fields(c.args), getenv, &out); err != nil {
			t.Errorf("%s: %v", c.args, err)
		}
		if !strings.Contains(out.String(), c.want) || strings.Contains(out.String(), "secret") {
			t.Errorf("%s: %s", c.args, out.String())
		}
	}
}

func TestUsage(t *testing.T) {
	getenv := env(t, nil)
	for _, args := range []string{
		"nonsense", "serve now", "config all", "version 2", "openapi -2", "openapi x", "migrate", "migrate sideways",
		"migrate down 0", "migrate up 2", "demo -links 0", "demo -links 9999999", "demo please",
	} {
		var out strings.Builder
		if err := Run(t.Context(), strings.Fields(args), getenv, &out); err != ErrUsage { //nolint:errorlint // it is never wrapped
			t.Errorf("%s: %v", args, err)
		}
		if out.Len() == 0 {
			t.Errorf("%s: no word about it", args)
		}
	}
	if _, err := os.Stat(getenv("DATABASE_URL")); err == nil {
		t.Error("a command that was not understood made a store")
	}
}

// newSite is a web page that answers as page does.
func newSite(t *testing.T, page func(w http.ResponseWriter)) string {
	t.Helper()
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		page(w)
	}))
	t.Cleanup(ts.Close)
	return ts.URL
}
