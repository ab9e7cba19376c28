package app

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linkwatch/models/modelstest"
)

// env returns a getenv over a map, with a temporary database.
func env(t *testing.T, set map[string]string) func(string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "test.db")
	return func(name string) string {
		if v, ok := set[name]; ok {
			return v
		}
		// The guard applies to Go's default client too: requests of this test pass the guard of the program that was started last.
		return map[string]string{"HTTP_PORT": "0", "DATABASE_URL": file, "LOG_FORMAT": "json", "OUTBOUND_ALLOW_CIDRS": "127.0.0.0/8"}[name]
	}
}

// program is a call of Run in the background.
type program struct {
	url  string
	stop context.CancelFunc
	done chan error
	log  *modelstest.Log
}

// start starts Run and waits until the server listens.
func start(t *testing.T, getenv func(string) string) *program {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p := &program{stop: cancel, done: make(chan error, 1), log: modelstest.NewLog(t)}
	go func() { p.done <- Run(ctx, nil, getenv, p.log) }()
	modelstest.Eventually(t, "the program listens", func() bool {
		select {
		case err := <-p.done:
			t.Fatalf("Run returned: %v", err)
		default:
		}
		for line := range strings.Lines(p.log.String()) {
			var entry struct{ Msg, URL string }
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "listening" {
				p.url = entry.URL
			}
		}
		return p.url != ""
	})
	return p
}

func (p *program) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-p.done:
		return err
	case <-time.After(time.Minute):
		t.Fatal("Run does not return")
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

// post sends JSON and returns the response, whose body is closed.
func (p *program) post(t *testing.T, path, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res
}

// newSite serves one page on this machine.
func newSite(t *testing.T, page func(w http.ResponseWriter)) string {
	t.Helper()
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		page(w)
	}))
	t.Cleanup(ts.Close)
	return ts.URL
}
