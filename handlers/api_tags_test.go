package handlers_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestLinkTags(t *testing.T) {
	s := newServer(t)
	id, other := s.save("https://a.test", "Go"), s.save("https://b.test", "go", "web")
	at := "/v1/link/" + id

	if got := column(s.do("GET", at+"/tags", "").want(200), "name"); got != "Go" {
		t.Errorf("tags %q", got)
	}
	if got := column(s.do("POST", at+"/tags", `{"tags":["GO","ops"]}`).want(200), "name"); got != "Go ops" {
		t.Errorf("tags %q", got)
	}
	if got := s.do("POST", "/v1/link/"+s.save("https://c.test")+"/tags", `{"tags":[]}`).want(200); len(results(got)) != 0 {
		t.Errorf("tags %v", got)
	}
	tag := s.do("GET", at+"/tag/"+s.tag("Go"), "").want(200)
	for _, member := range []string{"id", "name", "link_count", "created_at", "last_used_at"} {
		if tag[member] == nil {
			t.Errorf("a tag without %s: %v", member, tag)
		}
	}
	if tag["link_count"] != 2.0 {
		t.Errorf("link_count %v", tag["link_count"])
	}

	if got := s.do("PUT", at+"/tag/"+s.tag("ops"), `{"name":"devops"}`).want(200)["name"]; got != "devops" {
		t.Errorf("swapped for %v", got)
	}
	if got := column(s.do("GET", "/v1/tags", "").want(200), "name"); got != "devops Go web" {
		t.Errorf("tags %q: an unused one should be gone", got)
	}
	s.do("DELETE", at+"/tag/"+s.tag("Go"), "").want(http.StatusNoContent)
	s.do("GET", at+"/tag/"+s.tag("Go"), "").problem(404, "not-found", "")
	s.do("DELETE", at+"/tag/"+s.tag("Go"), "").problem(404, "not-found", "")
	s.do("PUT", at+"/tag/"+s.tag("Go"), `{"name":"x"}`).problem(404, "not-found", "")

	if got := s.do("GET", "/v1/tag/"+s.tag("Go")+"/link/"+other, "").want(200)["id"]; got != other {
		t.Errorf("got %v", got)
	}
	s.do("GET", "/v1/tag/"+s.tag("Go")+"/link/"+id, "").problem(404, "not-found", "")
	s.do("GET", "/v1/tag/nothing/links", "").problem(404, "not-found", "")
	s.do("GET", "/v1/link/nothing/tags", "").problem(404, "not-found", "")
}

func TestTooManyTags(t *testing.T) {
	s := newServer(t)
	id := s.save("https://a.test", "one")
	var names []string
	for i := range 64 {
		names = append(names, fmt.Sprintf(`"t%d"`, i))
	}
	all := `{"tags":[` + strings.Join(names, ",") + `]}`
	s.do("POST", "/v1/link/"+id+"/tags", all).problem(400, "too-many-tags", "")
	if got := column(s.do("GET", "/v1/link/"+id+"/tags", "").want(200), "name"); got != "one" {
		t.Errorf("tags %q: none should have been added", got)
	}
}

func TestTagLists(t *testing.T) {
	s := newServer(t)
	s.save("https://a.test", "beta", "alpha")
	s.save("https://b.test", "alpha")
	s.save("https://c.test", "gamma")
	for path, want := range map[string]string{
		"/v1/tags":                          "alpha beta gamma",
		"/v1/tags?q=ET":                     "beta",
		"/v1/popular-tags?per_page=1":       "alpha",
		"/v1/recent-tags?per_page=1":        "gamma",
		"/v1/recent-tags?per_page=1&page=2": "alpha",
	} {
		if got := column(s.do("GET", path, "").want(200), "name"); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
