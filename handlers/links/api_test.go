package links_test

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/links"
)

func TestSaveAndRead(t *testing.T) {
	s := apptest.New(t)
	a := s.Do("POST", "/v1/links", `{"url":"https://Example.com/a/","tags":["Go","devops"],"notes":"for the talk"}`)
	l := a.Want(http.StatusCreated)
	id, _ := l["id"].(string)
	if a.Header.Get("Location") != "/v1/link/"+id {
		t.Errorf("got Location %q", a.Header.Get("Location"))
	}
	for member, want := range map[string]any{
		"url": "https://Example.com/a/", "canonical_url": "https://example.com/a", "title": "Page of https://Example.com/a/",
		"owner": "system", "notes": "for the talk", "expired": false, "expired_at": nil, "view_count": 0.0,
		"health": "ok", "last_status_code": 200.0, "last_error": nil, "moved_to": nil, "tags": []any{"Go", "devops"},
		"opengraph": map[string]any{"title": "OG", "description": "D", "image": "https://pics.test/a.png", "site_name": "S", "type": "website"},
	} {
		if got, ok := l[member]; !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("got %s = %v, want %v", member, got, want)
		}
	}
	for _, member := range []string{"created_at", "updated_at", "last_checked_at"} {
		if v, _ := l[member].(string); !strings.HasSuffix(v, "Z") {
			t.Errorf("got %s = %v, want a time in UTC", member, l[member])
		} else if _, err := time.Parse(time.RFC3339Nano, v); err != nil {
			t.Error(err)
		}
	}
	for want := 1.0; want <= 2; want++ {
		if got := s.Do("GET", "/v1/link/"+id, "").Want(200)["view_count"]; got != want {
			t.Errorf("got view_count = %v, want %v", got, want)
		}
	}
	s.Do("HEAD", "/v1/link/"+id, "").Want(200)
	if got := s.Do("PUT", "/v1/link/"+id, "").Want(200)["view_count"]; got != 2.0 {
		t.Errorf("after HEAD and PUT: got view_count = %v, want 2", got)
	}
}

func TestSaveDuplicate(t *testing.T) {
	s := apptest.New(t)
	id := s.Save("https://example.com/", "Go").ID
	l := s.Do("POST", "/v1/links", `{"url":"HTTPS://EXAMPLE.com","tags":["go","new"]}`).Want(200)
	if l["id"] != id || !reflect.DeepEqual(l["tags"], []any{"Go", "new"}) {
		t.Errorf("got %v", l)
	}
	s.Do("PATCH", "/v1/link/"+id, `{"expired":true}`).Want(200)
	if l := s.Do("POST", "/v1/links", `{"url":"https://example.com"}`).Want(200); l["expired"] != true {
		t.Errorf("got expired = %v", l["expired"])
	}
}

func TestSaveErrors(t *testing.T) {
	s := apptest.New(t)
	s.Web.Set("https://gone.test", links.Page{Status: 404})
	s.Web.Set("https://private.test", &links.FetchError{Reason: "address not allowed", Blocked: true})
	s.Web.Set("https://busy.test", &links.FetchError{Reason: "rate limited by the host", RetryAfter: 90 * time.Second})
	s.Web.Set("https://full.test", &links.FetchError{Reason: "too many fetches", Busy: true, RetryAfter: 5 * time.Second})
	s.Web.Set("https://broken.test", errors.New("the disk is on fire in /var/secret"))
	post := func(url string) apptest.Response { return s.Do("POST", "/v1/links", `{"url":"`+url+`"}`) }
	if p := post("https://gone.test").Problem(422, "link-unresolvable", ""); !strings.Contains(p["detail"].(string), "404") {
		t.Errorf("the detail does not name the cause: %v", p["detail"])
	}
	post("https://private.test").Problem(422, "blocked-address", "")
	busy := post("https://busy.test")
	busy.Problem(422, "link-unresolvable", "")
	if got := busy.Header.Get("Retry-After"); got != "90" {
		t.Errorf("got Retry-After %q, want 90", got)
	}
	full := post("https://full.test")
	full.Problem(503, "unavailable", "")
	if got := full.Header.Get("Retry-After"); got != "5" || !strings.Contains(full.Body, "Too many pages are being fetched right now.") {
		t.Errorf("got Retry-After %q with %s", got, full.Body)
	}
	broken := post("https://broken.test")
	if p := broken.Problem(500, "internal", ""); strings.Contains(broken.Body, "fire") ||
		!strings.Contains(p["detail"].(string), broken.Header.Get("X-Request-Id")) {
		t.Errorf("internal error: got %s", broken.Body)
	}
	if got := s.Do("GET", "/v1/links?expired=all", "").Want(200)["total_results"]; got != 0.0 {
		t.Errorf("got %v stored links", got)
	}
	metrics := s.Do("GET", "/metrics", "").Body
	for _, outcome := range []string{"link-unresolvable", "blocked-address", "internal"} {
		if !strings.Contains(metrics, `linkwatch_link_creation_attempts_total{outcome="`+outcome+`"}`) {
			t.Errorf("no metric of outcome %s", outcome)
		}
	}
}

func TestRefresh(t *testing.T) {
	s := apptest.New(t)
	id := s.Save("https://example.com").ID
	s.Web.Set("https://example.com", links.Page{Status: 200, URL: "https://example.com", Title: "New"})
	if l := s.Do("PUT", "/v1/link/"+id, "").Want(200); l["title"] != "New" {
		t.Errorf("got title = %v", l["title"])
	}
	s.Web.Set("https://example.com", &links.FetchError{Reason: "timed out"})
	if l := s.Do("PUT", "/v1/link/"+id, "").Want(200); l["title"] != "New" || l["expired"] != false {
		t.Errorf("a failed refresh changed the link: %v", l)
	}
	s.Web.Set("https://example.com", &links.FetchError{Reason: "rate limited by the host", RetryAfter: 90 * time.Second})
	paused := s.Do("PUT", "/v1/link/"+id, "")
	paused.Problem(422, "link-unresolvable", "")
	if got := paused.Header.Get("Retry-After"); got != "90" {
		t.Errorf("got Retry-After %q, want 90", got)
	}
	before := s.Do("GET", "/v1/links", "").Body
	s.Web.Set("https://example.com", &links.FetchError{Reason: "too many fetches", Busy: true, RetryAfter: 5 * time.Second})
	full := s.Do("PUT", "/v1/link/"+id, "")
	full.Problem(503, "unavailable", "")
	if got := full.Header.Get("Retry-After"); got != "5" {
		t.Errorf("got Retry-After %q, want 5", got)
	}
	if after := s.Do("GET", "/v1/links", "").Body; after != before {
		t.Errorf("a refused refresh changed the link: %s", after)
	}
	s.Web.Set("https://example.com", links.Page{Status: 404})
	if l := s.Do("PUT", "/v1/link/"+id, "").Want(200); l["expired"] != true || l["expired_at"] == nil {
		t.Errorf("404 did not expire the link: %v", l)
	}
}

func TestExpireAnnotateDelete(t *testing.T) {
	s := apptest.New(t)
	id := s.Save("https://example.com").ID
	at := "/v1/link/" + id
	if l := s.Do("PATCH", at, `{"expired":true}`).Want(200); l["expired"] != true {
		t.Errorf("got %v", l)
	}
	if n := s.Do("GET", "/v1/links", "").Want(200)["total_results"]; n != 0.0 {
		t.Errorf("got %v active links", n)
	}
	if got := apptest.Column(s.Do("GET", "/v1/links?expired=true", "").Want(200), "id"); got != id {
		t.Errorf("got expired links %q", got)
	}
	s.Do("PATCH", at, `{"expired":true}`).Want(200)
	if l := s.Do("PATCH", at, `{"expired":false}`).Want(200); l["expired"] != false {
		t.Errorf("got %v", l)
	}

	if l := s.Do("PUT", at+"/annotation", `{"title":"Mine","notes":"n"}`).Want(200); l["title"] != "Mine" || l["notes"] != "n" {
		t.Errorf("got %v", l)
	}
	if l := s.Do("PUT", at, "").Want(200); l["title"] != "Mine" {
		t.Errorf("a refresh replaced the edited title: %v", l["title"])
	}
	if l := s.Do("PUT", at+"/annotation", `{"title":null}`).Want(200); l["title"] != "Page of https://example.com" || l["notes"] != "n" {
		t.Errorf("got %v", l)
	}

	if a := s.Do("DELETE", at, ""); a.Status != http.StatusNoContent || a.Body != "" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		s.Do(method, at, "").Problem(404, "not-found", "")
	}
	s.Do("PATCH", at, `{"expired":false}`).Problem(404, "not-found", "")
	s.Do("PUT", at+"/annotation", `{"title":"x"}`).Problem(404, "not-found", "")
	s.Do("POST", at+"/move", "").Problem(404, "not-found", "")
	s.Do("GET", "/v1/random", "").Problem(404, "not-found", "")
}

func TestMove(t *testing.T) {
	s := apptest.New(t)
	id := s.Save("https://old.test").ID
	s.Do("POST", "/v1/link/"+id+"/move", "").Problem(409, "conflict", "")
	s.Web.Set("https://old.test", links.Page{Status: 200, URL: "https://new.test/", Permanent: true})
	if l := s.Do("PUT", "/v1/link/"+id, "").Want(200); l["health"] != "moved" || l["moved_to"] != "https://new.test/" {
		t.Fatalf("got %v", l)
	}
	if l := s.Do("POST", "/v1/link/"+id+"/move", "").Want(200); l["url"] != "https://new.test/" || l["moved_to"] != nil {
		t.Errorf("got %v", l)
	}
}

func TestLists(t *testing.T) {
	s := apptest.New(t)
	a, b, c := s.Save("https://a.test", "x").ID, s.Save("https://b.test", "x", "y").ID, s.Save("https://c.test").ID
	s.Do("GET", "/v1/link/"+b, "").Want(200)
	for path, want := range map[string][]string{
		"/v1/links":                          {c, b, a},
		"/v1/recent":                         {c, b, a},
		"/v1/links?per_page=2":               {c, b},
		"/v1/links?per_page=2&page=2":        {a},
		"/v1/links?page=9":                   nil,
		"/v1/links?tag=Y":                    {b},
		"/v1/links?health=dead":              nil,
		"/v1/popular?per_page=1":             {b},
		"/v1/search?q=b.test":                {b},
		"/v1/search?q=tag:x,y":               {b},
		"/v1/search?q=tag:x+y":               {b, a},
		"/v1/search":                         {c, b, a},
		"/v1/tag/" + s.TagID("x") + "/links": {b, a},
		"/api/v1/links":                      {c, b, a},
	} {
		if got := apptest.Column(s.Do("GET", path, "").Want(200), "id"); got != strings.Join(want, " ") {
			t.Errorf("%s: got %s, want %v", path, got, want)
		}
	}
	l := s.Do("GET", "/v1/links?page=2&per_page=1", "").Want(200)
	if l["page"] != 2.0 || l["per_page"] != 1.0 || l["total_results"] != 3.0 || l["total_pages"] != 3.0 {
		t.Errorf("got %v", l)
	}
	if got := s.Do("GET", "/v1/links?per_page=1000", "").Want(200)["per_page"]; got != 100.0 {
		t.Errorf("per_page=1000: got %v", got)
	}
	if body := s.Do("GET", "/v1/links?page=9", "").Body; !strings.Contains(body, `"results":[]`) {
		t.Errorf("empty page: got %s", body)
	}
	if id := s.Do("GET", "/v1/random", "").Want(200)["id"]; !slices.Contains([]string{a, b, c}, id.(string)) {
		t.Errorf("random: got %v", id)
	}
	if near := s.Do("GET", "/v1/search?q=b.test", "").Want(200)["near"]; !reflect.DeepEqual(near, map[string]any{}) {
		t.Errorf("got near = %v for matching words", near)
	}
	near := s.Do("GET", "/v1/search?q=tets", "").Want(200)
	if near["total_results"] != 3.0 || near["near"] == nil {
		t.Errorf("similar words: got near = %v", near)
	}
}

// TestSearchTotalIsLimited: the total of a search is a lower bound above 10,000 matches. Paging
// still works.
func TestSearchTotalIsLimited(t *testing.T) {
	s := apptest.New(t)
	var ns []links.New
	for i := range links.MaxCounted + 25 {
		ns = append(ns, links.New{URL: fmt.Sprintf("https://h%d.test/walrus", i)})
	}
	if _, err := s.Links.Import(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"q=walrus":          "10000 true 334 30",
		"q=walrus&page=334": "10000 true 334 30",
		"q=walrus&page=335": "10000 true 334 5",
		"q=walrus&page=336": "10000 true 334 0",
		"q=h77.test":        "1 false 1 1",
		"":                  "10025 false 335 30", // without a search the total is exact
	} {
		l := s.Do("GET", "/v1/search?"+query, "").Want(200)
		if got := fmt.Sprint(l["total_results"], l["total_is_lower_bound"], " ", l["total_pages"], len(apptest.Results(l))); got != want {
			t.Errorf("%q: got %s, want %s", query, got, want)
		}
	}
	for path, want := range map[string]bool{"/v1/links": false, "/v1/tags": false, "/v1/popular": false} {
		if got := s.Do("GET", path, "").Want(200)["total_is_lower_bound"]; got != want {
			t.Errorf("%s: got total_is_lower_bound %v", path, got)
		}
	}
	for path, want := range map[string][]string{
		"/links?q=walrus":          {"10,000+ links", "Page 1 of 334+", `rel="next"`},
		"/links?q=walrus&page=334": {"10,000+ links", "Page 334 of 334+", `rel="next"`, "page=333"},
		"/links?q=walrus&page=335": {"Page 335 of 335<", "page=334"},
		"/links":                   {"10,025 links", "Page 1 of 335<"},
	} {
		body := s.Do("GET", path, "").Body
		for _, w := range want {
			if !strings.Contains(body, w) {
				t.Errorf("%s: got no %q", path, w)
			}
		}
	}
}
