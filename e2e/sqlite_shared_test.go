//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"linkwatch/models/modelstest"
)

// Two servers on one machine can share an SQLite file, as docs/operating.md says: each check runs once, the other
// server sees a change of a short link, and one goes on without the other. Neither lets the file be replaced.
func TestTwoServersOnOneFile(t *testing.T) {
	t.Parallel()
	web, store := site(t), storeIn(t)
	one, two := Start(t, store, "CHECK_INTERVAL=1h"), Start(t, store, "CHECK_INTERVAL=1h")
	servers := []*Server{one, two}
	ids := map[string]string{}
	for i := range 10 {
		path := fmt.Sprintf("/page-%d", i)
		ids[path] = servers[i%2].addTarget(web.URL + path).ID
	}
	for path, id := range ids {
		two.becomes(id, "up")
		if n := web.requests(path); n != 1 {
			t.Errorf("%s was checked %d times", path, n)
		}
	}

	shorten := map[string]any{"long_url": "https://go.dev/", "short_key": "shared"}
	if status := one.Call("POST", "/v1/shortlinks", shorten, nil); status != http.StatusCreated {
		t.Fatalf("status %d", status)
	}
	leadsTo := func(url string) bool {
		return send(t, two, "GET", "/s/shared", "", func(*http.Request) {}).Header.Get("Location") == url
	}
	modelstest.Eventually(t, "the other server has the short link", func() bool { return leadsTo("https://go.dev/") })
	changed := map[string]any{"long_url": "https://go.dev/dl/"}
	if status := one.Call("PATCH", "/v1/shortlinks/shared", changed, nil); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	modelstest.Eventually(t, "the other server has the change", func() bool { return leadsTo("https://go.dev/dl/") })

	one.Kill()
	backup := filepath.Join(t.TempDir(), "backup.db")
	if out, code := Command(t, []string{"backup", backup}, store); code != 0 {
		t.Errorf("backup: %s", out)
	}
	out, code := Command(t, []string{"restore", backup, "--force"}, store)
	if code != 1 || !strings.Contains(out, "another program uses the database") {
		t.Errorf("restore beside a server: %d %s", code, out)
	}
	two.addTarget(web.URL + "/later")
}
