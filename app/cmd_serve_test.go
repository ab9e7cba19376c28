package app

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"linkwatch/models/modelstest"
)

// TestServe starts the program twice on the same database.
func TestServe(t *testing.T) {
	t.Parallel()
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

// A start that cannot check other instances logs that, and the program ends without an error.
func TestServeWithoutLeasesOfOthers(t *testing.T) {
	t.Parallel()
	db := modelstest.New(t)
	var file string
	const query = "SELECT file FROM pragma_database_list WHERE name = 'main'"
	if err := db.Read(t.Context()).Raw(query).Scan(&file).Error; err != nil {
		t.Fatal(err)
	}
	modelstest.Exec(t, db, "INSERT INTO instances (id, started_at, heartbeat_at) VALUES ('i_other', 0, 'unreadable')")
	p := start(t, env(t, map[string]string{"DATABASE_URL": file}))
	if !strings.Contains(p.log.String(), "read leases of other instances") {
		t.Errorf("the failed check is not logged: %s", p.log)
	}
	p.stop()
	if err := p.wait(t); err != nil {
		t.Errorf("run: %v", err)
	}
}

// TestStopFinishesRequests checks that running requests complete after SIGTERM.
func TestStopFinishesRequests(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	site := newSite(t, func(w http.ResponseWriter) {
		close(entered)
		<-leave
		_, _ = io.WriteString(w, "<title>Slow but there</title>")
	})
	p := start(t, env(t, map[string]string{"OUTBOUND_ALLOW_CIDRS": "127.0.0.0/8"}))
	type response struct {
		status int
		body   string
	}
	responses := make(chan response, 1)
	go func() {
		res, err := http.Post(p.url+"/v1/links", "application/json", strings.NewReader(`{"url":"`+site+`"}`))
		if err != nil {
			responses <- response{0, err.Error()}
			return
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		responses <- response{res.StatusCode, string(b)}
	}()
	<-entered
	p.stop()
	modelstest.Eventually(t, "the program is stopping", func() bool { return p.log.Count(`"stopping"`) > 0 })
	close(leave)
	if r := <-responses; r.status != http.StatusCreated || !strings.Contains(r.body, "Slow but there") {
		t.Errorf("status %d: %s", r.status, r.body)
	}
	if err := p.wait(t); err != nil {
		t.Errorf("run: %v", err)
	}
}

// TestStopCancelsRequests checks that a request that does not end is canceled after SHUTDOWN_GRACE.
func TestStopCancelsRequests(t *testing.T) {
	t.Parallel()
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

// TestStartErrors checks that errors at start are one line and name the setting.
func TestStartErrors(t *testing.T) {
	t.Parallel()
	taken := start(t, env(t, nil))
	_, port, _ := strings.Cut(strings.TrimPrefix(taken.url, "http://"), ":")
	for name, c := range map[string]struct {
		set  map[string]string
		want string
	}{
		"invalid setting":    {map[string]string{"HTTP_PORT": "eighty"}, "HTTP_PORT"},
		"open without login": {map[string]string{"HTTP_HOST": "0.0.0.0"}, "ADMIN_PASSWORD"},
		"port in use":        {map[string]string{"HTTP_PORT": port}, "address already in use: set HTTP_PORT"},
		"path of a page":     {map[string]string{"PUBLIC_URL": "https://example.com/links/app"}, "/linkwatch"},
		"path of an alias":   {map[string]string{"PUBLIC_URL": "https://example.com/api"}, "PUBLIC_URL"},
		"no such folder":     {map[string]string{"DATABASE_URL": "/nonexistent/x.db"}, "DATABASE_URL"},
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

func TestAdminPasswordIsRequired(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]int{"": 401, "true": 200} {
		p := start(t, env(t, map[string]string{"ADMIN_PASSWORD": "secret", "AUTH_DISABLED": set}))
		if status, _ := p.get(t, "/v1/links"); status != want {
			t.Errorf("AUTH_DISABLED=%s: status %d, want %d", set, status, want)
		}
		p.stop()
		if err := p.wait(t); err != nil {
			t.Error(err)
		}
		if log := p.log.String(); strings.Contains(log, "secret") {
			t.Errorf("the password is in the log: %s", log)
		}
	}
}
