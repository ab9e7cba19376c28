package pages_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models/cleanup"
	"linkwatch/models/schedule"
)

// TestEveryPageWhenEmpty opens every page that needs no parameter in an empty database.
func TestEveryPageWhenEmpty(t *testing.T) {
	s := apptest.New(t)
	for path, want := range map[string]string{
		"/":               "Paste a URL",
		"/links":          "No links yet",
		"/links?q=go":     "No links yet",
		"/search":         "Add link",
		"/search?q=zzz":   "No results",
		"/tags":           "No tags yet",
		"/watch":          "No targets yet",
		"/admin/jobs":     "No scheduled jobs yet",
		"/admin/settings": "LINK_CHECK_INTERVAL",
	} {
		a := s.Get(path)
		apptest.WantStatus(t, a, http.StatusOK)
		apptest.WantText(t, a, "main", want)
		apptest.WantCount(t, a, "h1", 1)
		apptest.WantCount(t, a, `header a[aria-current="page"]`, 1)
		if !strings.Contains(strings.Join(a.Header.Values("Vary"), ","), "HX-Request") {
			t.Errorf("%s: got Vary %q", path, a.Header.Values("Vary"))
		}
		if strings.Contains(a.HTML, "<style") || strings.Contains(a.HTML, " style=") || strings.Contains(a.HTML, "<script>") {
			t.Errorf("%s has an inline style or script", path)
		}
	}
	err := s.Jobs.Declare(t.Context(), schedule.Job{ID: cleanup.Job, Schedule: "@every 15m", NextRunAt: s.Jobs.Now()})
	if err != nil {
		t.Fatal(err)
	}
	opened := 0
	for _, r := range s.Router.Routes() {
		if r.Method != http.MethodGet || strings.ContainsAny(r.Path, ":*") || r.Handler == nil || r.Stream {
			continue
		}
		a := s.Get(r.Path)
		// Without a link or single sign-on, and from another machine.
		if a.StatusCode >= http.StatusBadRequest && r.Path != "/links/random" && !strings.HasPrefix(r.Path, "/login") {
			t.Errorf("%s: status %d", r.Path, a.StatusCode)
		}
		if a.StatusCode != http.StatusOK || a.Find("nav[aria-label=Main]").Length() == 0 {
			continue // not a page with the frame
		}
		opened++
		apptest.WantCount(t, a, "h1", 1)
		apptest.WantCount(t, a, `header a[aria-current="page"], footer.bottom a[aria-current="page"]`, 1)
		if strings.Contains(a.HTML, "<style") || strings.Contains(a.HTML, " style=") || strings.Contains(a.HTML, "<script>") {
			t.Errorf("%s has an inline style or script", r.Path)
		}
	}
	if opened < 10 {
		t.Errorf("got only %d pages", opened)
	}
}

func TestPartOrPage(t *testing.T) {
	s := apptest.New(t)
	s.Save("https://example.com/a", "go")
	for path, part := range map[string]string{"/links": "#results", "/tags": "#results", "/admin/jobs": "#jobs"} {
		a := s.Part(path)
		apptest.WantCount(t, a, part, 1)
		apptest.WantCount(t, a, "header, nav[aria-label=Main]", 0)

		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set("HX-Request", "true")
		r.Header.Set("HX-History-Restore-Request", "true")
		apptest.WantCount(t, s.Browse(r), "nav[aria-label=Main]", 1)
	}
	if got := s.Part("/links?q=go&health=&tag=").Header.Get("HX-Replace-Url"); got != "/links?q=go" {
		t.Errorf("got HX-Replace-Url %q", got)
	}
}

// TestClientGone: if the client has disconnected, a failed page and its error page must not loop.
func TestClientGone(t *testing.T) {
	s := apptest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a := s.Browse(httptest.NewRequestWithContext(ctx, http.MethodGet, "/links", nil)); a.StatusCode == http.StatusOK {
		t.Errorf("got status %d", a.StatusCode)
	}
}

// TestUnknownFilesAreProblems: errors under /static/ are also a page or a problem.
func TestUnknownFilesAreProblems(t *testing.T) {
	s := apptest.New(t)
	for _, path := range []string{"/static/", "/static/x/none.css"} {
		page := s.Get(path)
		apptest.WantStatus(t, page, http.StatusNotFound)
		if !strings.Contains(page.HTML, "File not found.") {
			t.Errorf("%s: %s", path, page.HTML)
		}
	}
}
