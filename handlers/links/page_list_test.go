package links_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/links"
)

func TestSaveWithoutJavaScript(t *testing.T) {
	s := apptest.New(t)
	s.Web.Set("https://example.com/x", links.Page{Status: 200, URL: "https://example.com/x", Title: hostile})
	a := s.Follow("/links", url.Values{"url": {"example.com/x"}, "tags": {"Go, web dev,"}, "notes": {"why"}})
	apptest.WantText(t, a, ".flash", "Link saved: "+hostile)
	apptest.WantText(t, a, ".row .title", hostile)
	apptest.WantCount(t, a, "main script, main img", 0)
	apptest.WantText(t, a, ".row .tags", "Go web dev")
	if rel, _ := a.Find(".row .title").Attr("rel"); rel != "noreferrer noopener" {
		t.Errorf("got rel %q", rel)
	}

	a = s.Follow("/links", url.Values{"url": {"https://EXAMPLE.com/x#y"}, "tags": {"new"}})
	apptest.WantText(t, a, ".flash", "This link is already saved")
	apptest.WantText(t, a, ".row .tags", "new")
}

// TestNotesAreAppended: notes for a link that exists already are added to its notes.
func TestNotesAreAppended(t *testing.T) {
	s := apptest.New(t)
	for _, notes := range []string{"first", "second", "second"} {
		s.Follow("/links", url.Values{"url": {"https://example.com/a"}, "notes": {notes}})
	}
	found, err := s.Links.List(t.Context(), links.Filter{}, models.Page{Number: 1, Size: 10})
	if err != nil || len(found.Items) != 1 || found.Items[0].Notes != "first\n\nsecond" {
		t.Errorf("%+v, %v", found.Items, err)
	}
}

func TestSaveErrorsAreNextToTheirField(t *testing.T) {
	s := apptest.New(t)
	s.Web.Set("https://example.com/404", links.Page{Status: 404, URL: "https://example.com/404"})
	s.Web.Set("https://nohost.example", &links.FetchError{Reason: "host not found"})
	s.Web.Set("https://full.example", &links.FetchError{Reason: "too many fetches", Busy: true, RetryAfter: 5 * time.Second})
	long := strings.Repeat("x", links.MaxTagLength+1)
	for _, c := range []struct {
		url, tags string
		status    int
		field     string
	}{
		{"ftp://example.com", "a, b", 400, "#url-error"},
		{"", "a", 400, "#url-error"},
		{"javascript:alert(1)", "a", 400, "#url-error"},
		{"https://example.com", "a, " + long, 400, "#tags-error"},
		{"https://example.com/404", "a", 422, "#url-error"},
		{"https://nohost.example", "a", 422, "#url-error"},
		{"https://full.example", "a", 503, "#url-error"},
	} {
		a := s.Post("/links", url.Values{"url": {c.url}, "tags": {c.tags}, "notes": {"kept <b>"}})
		apptest.WantStatus(t, a, c.status)
		if apptest.Text(a, c.field) == "" {
			t.Errorf("%q: no message at %s: %s", c.url, c.field, apptest.Text(a, "form.add"))
		}
		apptest.WantCount(t, a, `[aria-invalid="true"]`, 1)
		if got := a.Header.Get("Retry-After"); (got == "5") != (c.status == 503) {
			t.Errorf("%s: got Retry-After %q", c.url, got)
		}
		if got := a.Find("form.add input[name=tags]").AttrOr("value", ""); got != c.tags {
			t.Errorf("tags %q: got %q in the form", c.tags, got)
		}
		if got := a.Find("#url").AttrOr("value", ""); got != c.url {
			t.Errorf("URL %q: got %q in the form", c.url, got)
		}
		if got := a.Find("form.add textarea").Text(); got != "kept <b>" {
			t.Errorf("got notes %q in the form", got)
		}
	}
	if n := s.Get("/links").Find(".row").Length(); n != 0 {
		t.Errorf("got %d stored links", n)
	}
}

func TestSearch(t *testing.T) {
	s := apptest.New(t)
	s.Web.Set("https://example.com/h", links.Page{Status: 200, URL: "https://example.com/h", Title: "Hypermedia"})
	s.Save("https://example.com/h", "web")
	s.Save("https://example.com/other", "go")

	a := s.Get("/links?q=hyper")
	apptest.WantCount(t, a, ".row", 1)
	apptest.WantText(t, a, "#count", "1 link")
	a = s.Get("/links?q=hypermedai")
	apptest.WantCount(t, a, ".row", 1)
	apptest.WantText(t, a, ".near", "“hypermedia”")
	a = s.Get("/links?q=zzzzzzzzzz")
	apptest.WantText(t, a, ".empty", "No matching links")
	a = s.Get("/links?tag=GO")
	apptest.WantCount(t, a, ".row", 1)

	a = s.Get("/links?q=" + url.QueryEscape(`go "open`))
	apptest.WantStatus(t, a, http.StatusBadRequest)
	apptest.WantText(t, a, "#q-error", "The search has an error at character 4")
	if got := a.Find("#q").AttrOr("value", ""); got != `go "open` {
		t.Errorf("got query %q in the form", got)
	}
	a = s.Part("/links?q=" + url.QueryEscape(`go "open`))
	apptest.WantStatus(t, a, http.StatusBadRequest)
	apptest.WantCount(t, a, ".row, .filters", 0)
	if got := a.Header.Get("HX-Retarget"); got != "#q-error" {
		t.Errorf("got message target %q", got)
	}

	for _, path := range []string{"/links?page=0x", "/links?page=-1", "/links?health=well", "/links?expired=maybe", "/tags?sort=x", "/admin/jobs/none", "/links/l_none", "/nowhere"} {
		a := s.Get(path)
		if a.StatusCode != 400 && a.StatusCode != 404 {
			t.Errorf("%s: status %d", path, a.StatusCode)
		}
		apptest.WantCount(t, a, "main h1", 1)
		apptest.WantText(t, a, "main code", a.Header.Get("X-Request-Id"))
	}
}

// The health filters count the links of the list.
func TestHealthFilters(t *testing.T) {
	s := apptest.New(t)
	for _, path := range []string{"go-1", "go-2", "rust"} {
		l := s.Save("https://example.com/"+path, path)
		s.Web.Set(l.URL, &links.FetchError{Reason: "host not found"})
		_, err := s.Links.Recheck(t.Context(), l.ID)
		s.Must(err)
		if path == "rust" {
			s.Follow("/links/"+l.ID+"/expired", url.Values{"expired": {"true"}})
		}
	}
	const suspect = "a.chip.suspect[href*='health=suspect']"
	for list, want := range map[string]string{"/links": "2", "/links?q=go-1": "1", "/links?tag=go-2": "1", "/links?expired=true": "1", "/links?expired=all": "3", "/links?sort=popular": "2"} {
		apptest.WantText(t, s.Get(list), suspect+" span", want)
	}
	for _, list := range []string{"/links?q=rust", "/links?q=nothing", "/links?health=suspect"} {
		apptest.WantCount(t, s.Get(list), suspect, 0)
	}
	apptest.WantCount(t, s.Get("/links?health=dead&expired=true"), "a.chip[href*=health]", 0)
}

func TestPreview(t *testing.T) {
	s := apptest.New(t)
	s.Web.Set("https://example.com/p", links.Page{
		Status: 200, URL: "https://example.com/p", Title: hostile,
		OpenGraph: links.OpenGraph{Image: "javascript:alert(1)", Description: "What it is"},
	})
	s.Web.Set("https://nohost.example/", &links.FetchError{Reason: "host not found"})
	preview := func(u string) apptest.Page {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/links/preview", strings.NewReader(url.Values{"url": {u}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("HX-Request", "true")
		return s.Browse(r)
	}
	a := preview("https://example.com/p")
	apptest.WantText(t, a, "strong", hostile)
	apptest.WantText(t, a, "body", "What it is")
	apptest.WantCount(t, a, "img, script", 0)
	a = preview("https://nohost.example/")
	apptest.WantStatus(t, a, http.StatusUnprocessableEntity)
	apptest.WantText(t, a, ".field-error", "host not found")
	s.Web.Set("https://full.example/", &links.FetchError{Reason: "too many fetches", Busy: true, RetryAfter: 5 * time.Second})
	a = preview("https://full.example/")
	apptest.WantStatus(t, a, http.StatusServiceUnavailable)
	apptest.WantText(t, a, ".field-error", "Too many pages are being fetched right now. Try again in a few seconds.")
	apptest.WantStatus(t, preview("nonsense"), http.StatusBadRequest)
	apptest.WantStatus(t, preview(" "), http.StatusOK)

	a = s.Get("/links?url=" + url.QueryEscape("https://example.com/p")) // as the bookmarklet
	if got := a.Find("#url").AttrOr("value", ""); got != "https://example.com/p" {
		t.Errorf("got URL %q of the bookmarklet", got)
	}
	apptest.WantCount(t, a, `#preview[hx-trigger="load"]`, 1)
}

func TestCompleteTags(t *testing.T) {
	s := apptest.New(t)
	s.Save("https://example.com/a", "golang", "gopher", "web")
	a := s.Part("/links/tags?tags=" + url.QueryEscape("web, go"))
	apptest.WantCount(t, a, "option", 2)
	if got := a.Find("option").First().AttrOr("value", ""); !strings.HasPrefix(got, "web, go") {
		t.Errorf("got first option %q", got)
	}
}

func TestConstantNumberOfQueries(t *testing.T) {
	s := apptest.New(t)
	s.Save("https://example.com/first", "a", "b")
	paths := []string{"/", "/links", "/links?q=example", "/links?sort=popular", "/tags"}
	few := map[string]int64{}
	for _, p := range paths {
		few[p] = s.Count(p)
	}
	for i := range 12 {
		s.Save(fmt.Sprintf("https://example.com/%d", i), fmt.Sprintf("t%d", i), "a")
	}
	for _, p := range paths {
		if n := s.Count(p); n != few[p] || n == 0 {
			t.Errorf("%s: got %d queries with one link, %d with 13", p, few[p], n)
		}
	}
}
