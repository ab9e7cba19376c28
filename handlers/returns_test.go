package handlers_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/handlers/middleware"
)

// A form that failed leaves its path in the address bar. Each such path can be opened: it shows a page.
func TestPathsOfFormsCanBeOpened(t *testing.T) {
	s := apptest.New(t)
	for _, r := range s.Router.Routes() {
		path := regexp.MustCompile(":[a-z]+").ReplaceAllString(r.Path, "x")
		if r.Method != http.MethodPost || middleware.IsAPI(r.Path) {
			continue
		}
		if a := s.Get(path); a.StatusCode == http.StatusMethodNotAllowed {
			t.Errorf("GET %s is not allowed", r.Path)
		}
	}
	target := s.Watch("https://example.com", "Example")
	for path, want := range map[string]string{
		"/links/bulk": "/links", "/links/l_unknown/tags": "/links/l_unknown", "/tags/g_x": "/tags", "/changes/x/undo": "/",
		"/watch/" + target.ID + "/check": "/watch/" + target.ID, "/crawl/sources/s_x": "/crawl", "/settings/sessions/end": "/settings",
		"/sites/w_x/pages/p_x/priority": "/sites/w_x/pages/p_x", "/alerts/bulk/undo": "/alerts", "/login/first": "/login",
	} {
		a := s.Get(path)
		if a.StatusCode != http.StatusFound || a.Header.Get("Location") != want {
			t.Errorf("GET %s: status %d, Location %q, want %q", path, a.StatusCode, a.Header.Get("Location"), want)
		}
	}
}

// A request reports all its invalid fields, not only the first.
func TestAllInvalidFieldsAreReported(t *testing.T) {
	s := apptest.New(t)
	link, target, short := s.Save("https://example.com").ID, s.Watch("https://example.com", "").ID, s.Shorten("https://example.com", "known").Key
	long := `"` + strings.Repeat("x", 3000) + `"`
	for _, c := range []struct{ method, path, body, fields string }{
		{"POST", "/v1/links", `{"url":"ftp://x","title":` + long + `,"tags":["a,b"]}`, "url tags[0] title"},
		{"PUT", "/v1/link/" + link + "/annotation", `{"title":` + long + `,"notes":"` + strings.Repeat("x", 1<<18) + `"}`, "title notes"},
		{"POST", "/v1/targets", `{"url":"ftp://x","name":` + long + `,"expect":{"status":"x","keyword":` + long + `}}`, "url name expect.status expect.keyword"},
		{"PATCH", "/v1/targets/" + target, `{"name":` + long + `,"expect":{"status":"x"}}`, "name expect.status"},
		{"POST", "/v1/shortlinks", `{"long_url":"ftp://x","title":` + long + `,"expires_at":"2001-01-01T00:00:00Z"}`, "long_url title expires_at"},
		{"PATCH", "/v1/shortlinks/" + short, `{"long_url":"ftp://x","title":` + long + `}`, "title long_url"},
		{"POST", "/v1/sources", `{"url":"ftp://x","name":` + long + `}`, "url name"},
		{"POST", "/v1/websites", `{"site_url":"ftp://x","name":` + long + `}`, "site_url name"},
		{"POST", "/v1/status-pages", `{"slug":"A B","title":` + long + `,"targets":[]}`, "title slug"},
	} {
		problem := s.Do(c.method, c.path, c.body).Want(http.StatusBadRequest)
		var got []string
		for _, e := range apptest.Objects(problem["errors"]) {
			location, _ := e["location"].(string)
			got = append(got, location)
		}
		if strings.Join(got, " ") != c.fields {
			t.Errorf("%s %s reports %q, want %q", c.method, c.path, got, c.fields)
		}
	}
}
