//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"linkwatch/models/modelstest"
)

// The main journey on PostgreSQL, in the browser and in the API.
func TestPostgres(t *testing.T) {
	t.Parallel()
	store := "DATABASE_URL=" + modelstest.NewPostgres(t)
	web, s := site(t), Start(t, store)
	saved := s.save(web.URL+"/go-memory", "Go", "Reading")
	s.save(web.URL+"/c-sharp", "c#")

	b := browse(t, s, wide, "/links")
	b.fill("#url", web.URL+"/sqlite-pages")
	b.see("What there is to know about Sqlite pages.")
	b.click("#add button.primary")
	b.see("Link saved: Sqlite pages")
	b.fill("#q", "memry") // a misspelled word
	b.see("No exact match")
	b.wait(`document.querySelectorAll(".row").length === 1`)
	b.see("Go memory")
	b.fill("#q", "tag:c#")
	b.wait(`document.querySelectorAll(".row").length === 1 && document.querySelector(".row .title").textContent === "C sharp"`)

	web.set("/go-memory", status(404))
	var refreshed link
	if got := s.Call("PUT", "/v1/link/"+saved.ID, nil, &refreshed); got != 200 || !refreshed.Expired {
		t.Errorf("refresh of a page with 410: got %d, expired %v, want 200, true", got, refreshed.Expired)
	}
	if _, total := s.found("/v1/search?q=memory"); total != 0 {
		t.Errorf("expired link: found %d times", total)
	}
	s.Stop()
	again := Start(t, store)
	if _, total := again.found("/v1/links?expired=all"); total != 3 {
		t.Errorf("after a restart: got %d links, want 3", total)
	}
}

// Eight instances that start at once on an empty database behind a pooler in transaction mode are all ready, and work
// without an error. So are eight that start on the migrated database.
func TestPostgresBehindPooler(t *testing.T) {
	store := "DATABASE_URL=" + modelstest.Pooler(t, modelstest.NewPostgres(t), modelstest.PoolTransactions)
	for _, state := range []string{"an empty database", "a migrated database"} {
		started := time.Now()
		var all []*Server
		for range 8 {
			all = append(all, launchServer(t, store))
		}
		for _, s := range all {
			s.awaitListening()
			modelstest.Eventually(t, "the instance is ready", func() bool { return s.Call("GET", "/readyz", nil, nil) == 200 })
		}
		t.Logf("%s: 8 instances are ready after %s", state, time.Since(started).Round(10*time.Millisecond))
		for _, s := range all {
			var added struct {
				Key string `json:"short_key"`
			}
			if got := s.Call("POST", "/v1/shortlinks", map[string]any{"long_url": "https://example.com/"}, &added); got != 201 {
				t.Errorf("add short link: got %d, want 201", got)
			}
			for _, other := range all {
				if got := other.Call("GET", "/v1/shortlinks/"+added.Key, nil, nil); got != 200 {
					t.Errorf("read short link: got %d, want 200", got)
				}
			}
		}
		for _, s := range all { // before any of them ends, which can fail PgBouncer: see Pooler
			log := s.log()
			if !strings.Contains(log, "behind a connection pooler") {
				t.Errorf("the pooler is not recognized: %s", log)
			}
			for line := range strings.Lines(log) {
				late := strings.Contains(line, "context deadline exceeded") // eight instances on a busy machine
				if strings.Contains(line, `"level":"ERROR"`) && !late {
					t.Errorf("an instance logs an error: %s", line)
				}
			}
		}
		for _, s := range all {
			s.Stop()
		}
	}
}

// A start on a read-only replica says what it is, also if the schema is the newest.
func TestPostgresReplica(t *testing.T) {
	t.Parallel()
	pg := newPostgres(t)
	store := "DATABASE_URL=" + pg.url()
	if out, code := Command(t, []string{"migrate", "up"}, store); code != 0 {
		t.Fatal(out)
	}
	pg.end(syscall.SIGINT)
	if err := os.WriteFile(filepath.Join(pg.dir, "data", "standby.signal"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := pg.start(); err != nil {
		t.Fatal(err)
	}
	modelstest.Eventually(t, "the replica answers", pg.answers)
	for _, command := range []string{"serve", "migrate", "check"} {
		args := map[string][]string{"migrate": {"migrate", "up"}}[command]
		if args == nil {
			args = []string{command}
		}
		out, code := Command(t, args, store)
		if code == 0 || !strings.Contains(out, "the server is a read-only replica. Use the primary server.") {
			t.Errorf("%s: exit code %d: %s", command, code, out)
		}
	}
}
