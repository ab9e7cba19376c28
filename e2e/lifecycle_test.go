//go:build e2e

package e2e

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"linkwatch/models/modelstest"
)

// After SIGTERM, running requests complete.
func TestStopWaitsForRequests(t *testing.T) {
	t.Parallel()
	web, s := site(t), Start(t)
	release := make(chan struct{})
	slow := web.set("/slow", func(rw http.ResponseWriter, r *http.Request) {
		<-release
		article(rw, r)
	})
	answered := make(chan int, 1)
	go func() {
		status, err := s.Try("POST", "/v1/links", map[string]any{"url": slow}, nil)
		if err != nil {
			t.Error("the running request was cut: ", err)
		}
		answered <- status
	}()
	modelstest.Eventually(t, "the slow page got a request", func() bool { return web.requests("/slow") > 0 })

	s.signal(syscall.SIGTERM)
	modelstest.Eventually(t, "the program is stopping", func() bool { return strings.Contains(s.log(), `"msg":"stopping"`) })
	modelstest.Eventually(t, "no new connection is taken", func() bool { _, err := s.Try("GET", "/healthz", nil, nil); return err != nil })
	close(release)

	if status := <-answered; status != http.StatusCreated {
		t.Errorf("running request: got status %d, want 201", status)
	}
	if err := s.wait(); err != nil {
		t.Errorf("got %v, want exit code 0", err)
	}
}

// A second signal stops the program at once, without waiting for requests.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	web, s := site(t), Start(t)
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	slow := web.set("/slow", func(http.ResponseWriter, *http.Request) { <-release })
	answered := make(chan error, 1)
	go func() {
		_, err := s.Try("POST", "/v1/links", map[string]any{"url": slow}, nil)
		answered <- err
	}()
	modelstest.Eventually(t, "the slow page got a request", func() bool { return web.requests("/slow") > 0 })

	s.signal(syscall.SIGTERM)
	modelstest.Eventually(t, "the program is stopping", func() bool { return strings.Contains(s.log(), `"msg":"stopping"`) })
	s.signal(syscall.SIGTERM)
	if err := s.wait(); err == nil {
		t.Error("got exit code 0 after two signals, so the program waited for the request")
	}
	if err := <-answered; err == nil {
		t.Error("got a response, but the program should stop at once")
	}
}

// If the program cannot start, the error names the reason and the setting to change.
func TestStartupErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env  string
		says []string
	}{
		"open to all without a password": {"HTTP_HOST=0.0.0.0", []string{"HTTP_HOST", "ADMIN_PASSWORD", "AUTH_DISABLED=true", "127.0.0.1"}},
		"a port that is none":            {"HTTP_PORT=eighty", []string{`HTTP_PORT="eighty"`, "0 to 65535"}},
		"a duration without a unit":      {"SHUTDOWN_GRACE=10", []string{"SHUTDOWN_GRACE", "duration"}},
		"a database of no known kind":    {"DATABASE_URL=mysql://root:hunter2@db/x", []string{"DATABASE_URL", "postgres"}},
		"a folder that is not there":     {"DATABASE_URL=/nonexistent/linkwatch.db", []string{`DATABASE_URL="/nonexistent/linkwatch.db"`, "folder"}},
	} {
		t.Run(name, func(t *testing.T) {
			out, code := Command(t, nil, storeIn(t), "HTTP_PORT=0", c.env)
			if code != 1 {
				t.Errorf("got exit code %d, want 1; output: %s", code, out)
			}
			for _, part := range c.says {
				if !strings.Contains(out, part) {
					t.Errorf("the message lacks %q: %s", part, out)
				}
			}
			if strings.Contains(out, "hunter2") {
				t.Errorf("the message contains the password: %s", out)
			}
		})
	}
}

func TestConfigMasksSecrets(t *testing.T) {
	t.Parallel()
	out, code := Command(t, []string{"config"}, "ADMIN_PASSWORD=correct horse", "DATABASE_URL=postgres://bob:hunter2@127.0.0.1/x", "HTTP_PORT=8123")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	for _, secret := range []string{"correct horse", "hunter2"} {
		if strings.Contains(out, secret) {
			t.Errorf("config contains %q:\n%s", secret, out)
		}
	}
	for _, part := range []string{"ADMIN_PASSWORD", "***", "HTTP_PORT", "8123", "8080", "postgres://bob:"} {
		if !strings.Contains(out, part) {
			t.Errorf("config lacks %q:\n%s", part, out)
		}
	}
}
