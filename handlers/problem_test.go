package handlers_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"linkwatch/app/apptest"
)

// TestProblemTypes: the type of a problem is the URL of a page that explains it, for all clients and
// also at SHORT_HOST.
func TestProblemTypes(t *testing.T) {
	r := apptest.New(t, apptest.Set("PUBLIC_URL", "https://links.example"), apptest.Set("SHORT_HOST", "go.example"), apptest.Set("ADMIN_PASSWORD", "correct horse")).Router
	for _, c := range []struct{ host, path, heading string }{
		{"links.example", "/v1/links", "<h1>Login required</h1>"},
		{"links.example", "/nothing", "<h1>Not found</h1>"},
		{"links.example", "/s/nothing", "<h1>Not found</h1>"},
		{"go.example", "/nothing", "<h1>Not found</h1>"},
	} {
		var p struct{ Type string }
		if err := json.Unmarshal(get(r, "GET", c.path, "Host", c.host).Body.Bytes(), &p); err != nil || !strings.HasPrefix(p.Type, "/probs/") {
			t.Fatalf("%s%s: got %+v, %v", c.host, c.path, p, err)
		}
		for _, accept := range []string{"text/html", "application/json", "text/plain", ""} {
			for _, method := range []string{"GET", "HEAD"} {
				w := get(r, method, p.Type, "Host", c.host, "Accept", accept)
				body := w.Body.String()
				if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") || !strings.Contains(body, c.heading) {
					t.Errorf("%s %s%s for %q: got %d, %v, %s", method, c.host, p.Type, accept, w.Code, w.Header(), body)
				}
				if strings.Contains(body, "<a ") || strings.Contains(body, "<nav") {
					t.Errorf("%s%s links to internal pages: got %s", c.host, p.Type, body)
				}
			}
		}
	}
	for _, host := range []string{"links.example", "go.example"} {
		page := get(r, "GET", "/probs/nothing", "Host", host, "Accept", "text/html")
		if page.Code != http.StatusNotFound || strings.Contains(page.Body.String(), "<a ") || strings.Contains(page.Body.String(), "short link") {
			t.Errorf("%s: got %d, %s", host, page.Code, page.Body)
		}
		if w := get(r, "GET", "/probs/nothing", "Host", host); w.Code != http.StatusNotFound || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: got %d, %v", host, w.Code, w.Header())
		}
	}
	if w := get(r, "GET", "/probs", "Host", "links.example"); w.Code != http.StatusNotFound {
		t.Errorf("/probs: got %d", w.Code)
	}
}
