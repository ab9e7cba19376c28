package handlers_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models"
)

const maxAddress = 4000 // maximum bytes of a URL in a header

// textFilters returns the text filters of lists with their path: "/links q".
func textFilters() (api, pages []string) {
	return []string{
			"/v1/links tag", "/v1/search q", "/v1/search tag", "/v1/tags q", "/v1/targets q", "/v1/targets host", "/v1/shortlinks q", "/v1/jobs q", "/v1/jobs source_id", "/v1/sources q",
			"/v1/frontier execution_id", "/v1/crawled-pages q", "/v1/crawled-pages language", "/v1/websites/{id}/pages q", "/v1/websites/{id}/pages cause",
			"/v1/websites/{id}/submissions page_id",
		}, []string{
			"/links q", "/links tag", "/links/tags tags", "/tags q", "/watch q", "/watch host", "/short q", "/crawl q", "/crawl/pages q",
		}
}

var longFilters = map[string]string{
	"50 kB": strings.Repeat("a", 50_000), "one byte more": strings.Repeat("a", models.MaxFilter+1), "not ASCII": strings.Repeat("ü", models.MaxFilter/2+1),
}

func TestLongFilter_API(t *testing.T) {
	s := apptest.New(t)
	api := describedFilters(t, s)
	for name, long := range longFilters {
		for _, at := range api {
			path, param, _ := strings.Cut(at, " ")
			s.Do("GET", path+"?"+param+"="+url.QueryEscape(long), "").Problem(http.StatusBadRequest, "invalid-request", "query."+param)
		}
		t.Log(name)
	}
	for _, at := range api {
		path, param, _ := strings.Cut(at, " ")
		if strings.Contains(path, "{") { // of an item that does not exist
			continue
		}
		s.Do("GET", path+"?"+param+"="+strings.Repeat("a", models.MaxFilter), "").Want(http.StatusOK)
	}
}

// TestLongFilter_TableIsComplete compares textFilters with the text filters of the OpenAPI document.
func TestLongFilter_TableIsComplete(t *testing.T) {
	known, _ := textFilters()
	found := describedFilters(t, apptest.New(t))
	for _, at := range known {
		if !slices.Contains(found, at) {
			t.Errorf("%q is missing in %q", at, found)
		}
	}
}

// describedFilters returns the text filters of all lists in the OpenAPI document: query parameters
// with free text.
func describedFilters(t *testing.T, s *apptest.App) []string {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name, In string
				Schema   struct {
					Type   any
					Format string
					Enum   []any
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(s.Do("GET", "/openapi.json", "").Body), &doc); err != nil {
		t.Fatal(err)
	}
	parsed := []string{"page_token", "event"} // a token of any length, and a name of a list
	var found []string
	for path, operations := range doc.Paths {
		if !strings.HasPrefix(path, "/v1/") { // not a list
			continue
		}
		for _, p := range operations["get"].Parameters {
			if p.In == "query" && fmt.Sprint(p.Schema.Type) == "string" && p.Schema.Format == "" && len(p.Schema.Enum) == 0 && !slices.Contains(parsed, p.Name) {
				found = append(found, path+" "+p.Name)
			}
		}
	}
	return found
}

func TestLongFilter_Pages(t *testing.T) {
	s := apptest.New(t)
	s.Save("https://a.test", "go")
	_, pages := textFilters()
	for name, long := range longFilters {
		for _, at := range pages {
			path, param, _ := strings.Cut(at, " ")
			address := path + "?" + param + "=" + url.QueryEscape(long)
			for _, a := range []apptest.Page{s.Get(address), s.Part(address)} {
				apptest.WantStatus(t, a, http.StatusBadRequest)
				bounded(t, a)
			}
			if param == "tags" {
				continue // parts of a form
			}
			a := s.Get(address)
			apptest.WantText(t, a, "#q-error", "ust have at most 512 bytes.")
			apptest.WantCount(t, a, `#q[aria-invalid=true][aria-describedby=q-error]`, 1)
			if got := a.Find(`form.find [name="`+param+`"]`).AttrOr("value", ""); got != long {
				t.Errorf("%s, %s: got %d bytes of %d", at, name, len(got), len(long))
			}
			if len(a.HTML) > 4*len(long)+50_000 {
				t.Errorf("%s, %s: got a page of %d bytes", at, name, len(a.HTML))
			}
			part := s.Part(address)
			if part.Header.Get("HX-Retarget") != "#q-error" {
				t.Errorf("%s: got HX-Retarget %q", at, part.Header.Get("HX-Retarget"))
			}
			apptest.WantText(t, part, "#q-error", "ust have at most 512 bytes.")
		}
	}
	for _, at := range pages {
		path, param, _ := strings.Cut(at, " ")
		apptest.WantStatus(t, s.Get(path+"?"+param+"="+strings.Repeat("a", models.MaxFilter)), http.StatusOK)
	}
}

func TestLongFilter_StatusPageForm(t *testing.T) {
	s := apptest.New(t)
	s.Watch("https://a.test", "")
	long := strings.Repeat("a", 50_000)
	form := url.Values{"title": {"Shop"}, "find": {long}, "look": {"yes"}}
	a := s.Post("/status", form)
	apptest.WantStatus(t, a, http.StatusBadRequest)
	apptest.WantText(t, a, "#find-error", "The search must have at most 512 bytes.")
	apptest.WantCount(t, a, `input[name=find][aria-invalid=true][aria-describedby=find-error]`, 1)
	if a.Find("input[name=find]").AttrOr("value", "") != long || a.Find("input[name=title]").AttrOr("value", "") != "Shop" {
		t.Error("the form lost its input")
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/status", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("HX-Request", "true")
	part := s.Browse(r)
	apptest.WantStatus(t, part, http.StatusBadRequest)
	apptest.WantText(t, part, "#choices #find-error", "The search must have at most 512 bytes.")
}

// bounded fails the test if a header has a URL that is too long.
func bounded(t *testing.T, a apptest.Page) {
	t.Helper()
	for name, values := range a.Header {
		for _, v := range values {
			if len(v) > maxAddress {
				t.Errorf("%s %s: got %s with %d bytes", a.Request.Method, a.Request.URL.Path, name, len(v))
			}
		}
	}
}

// No request causes a long response header, neither by a filter nor by the field back.
func TestHeadersAreLimited(t *testing.T) {
	s := apptest.New(t)
	l := s.Save("https://a.test", "go")
	w := s.Watch("https://b.test", "").ID
	tag := s.TagID("go")
	wide := strings.Repeat("ü", models.MaxFilter/2) // three times as long when escaped
	for _, path := range []string{
		"/links?q=" + wide + "&tag=" + wide, "/tags?q=" + wide, "/watch?q=" + wide + "&host=" + wide, "/short?q=" + wide,
	} {
		bounded(t, s.Get(path))
		bounded(t, s.Part(path))
	}
	for _, back := range []string{
		"/links?q=" + strings.Repeat("a", 60_000), "/links?q=" + strings.Repeat("ü", 2000), "/links/" + strings.Repeat("a", 60_000),
		"/watch?" + strings.Repeat("a=b&", 20_000), "/tags?q=" + strings.Repeat("%00", 9000), "/short/" + strings.Repeat("ü", 9000) + "?q=1",
	} {
		for path, form := range map[string]url.Values{
			"/links/bulk":                 {"action": {"expire"}, "id": {l.ID}},
			"/links/bulk ":                {"action": {"refresh"}, "id": {l.ID}},
			"/links/bulk  ":               {},
			"/links/" + l.ID + "/expired": {},
			"/watch":                      {"url": {"https://c.test"}},
			"/watch/" + w + "/paused":     {},
			"/tags/" + tag:                {"name": {"GO"}},
			"/links/preview":              {"url": {strings.Repeat("a", 60_000)}},
			"/changes/u_x/undo":           {},
		} {
			form.Set("back", back)
			a := s.Post(strings.TrimSpace(path), form)
			bounded(t, a)
			if a.StatusCode == http.StatusSeeOther && !strings.HasPrefix(a.Header.Get("Location"), "/") {
				t.Errorf("%s: got location %.100q", path, a.Header.Get("Location"))
			}
		}
	}
	// The message stays, and the filter is dropped.
	a := s.Post("/links/"+l.ID+"/expired", url.Values{"back": {"/links?q=" + strings.Repeat("a", 60_000)}, "expired": {"false"}})
	if got := a.Header.Get("Location"); !strings.HasPrefix(got, "/links?change=") && got != "/links?done=unchanged" {
		t.Errorf("got location %.100q", got)
	}
	if a = s.Post("/links/bulk", url.Values{"back": {"/links?q=go&tag=go"}}); a.Header.Get("Location") != "/links?q=go&tag=go&done=unchanged" {
		t.Errorf("got location %q", a.Header.Get("Location"))
	}
}
