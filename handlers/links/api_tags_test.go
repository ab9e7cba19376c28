package links_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
)

func TestLinkTags(t *testing.T) {
	s := apptest.New(t)
	id, other := s.Save("https://a.test", "Go").ID, s.Save("https://b.test", "go", "web").ID
	at := "/v1/link/" + id

	if got := apptest.Column(s.Do("GET", at+"/tags", "").Want(200), "name"); got != "Go" {
		t.Errorf("got tags %q", got)
	}
	if got := apptest.Column(s.Do("POST", at+"/tags", `{"tags":["GO","ops"]}`).Want(200), "name"); got != "Go ops" {
		t.Errorf("got tags %q", got)
	}
	if got := s.Do("POST", "/v1/link/"+s.Save("https://c.test").ID+"/tags", `{"tags":[]}`).Want(200); len(apptest.Results(got)) != 0 {
		t.Errorf("got tags %v", got)
	}
	tag := s.Do("GET", at+"/tag/"+s.TagID("Go"), "").Want(200)
	for _, member := range []string{"id", "name", "link_count", "created_at", "last_used_at"} {
		if tag[member] == nil {
			t.Errorf("tag without %s: got %v", member, tag)
		}
	}
	if tag["link_count"] != 2.0 {
		t.Errorf("got link_count %v", tag["link_count"])
	}

	if got := s.Do("PUT", at+"/tag/"+s.TagID("ops"), `{"name":"devops"}`).Want(200)["name"]; got != "devops" {
		t.Errorf("got %v", got)
	}
	if got := apptest.Column(s.Do("GET", "/v1/tags", "").Want(200), "name"); got != "devops Go web" {
		t.Errorf("got tags %q, want no unused ones", got)
	}
	s.Do("DELETE", at+"/tag/"+s.TagID("Go"), "").Want(http.StatusNoContent)
	s.Do("GET", at+"/tag/"+s.TagID("Go"), "").Problem(404, "not-found", "")
	s.Do("DELETE", at+"/tag/"+s.TagID("Go"), "").Problem(404, "not-found", "")
	s.Do("PUT", at+"/tag/"+s.TagID("Go"), `{"name":"x"}`).Problem(404, "not-found", "")

	if got := s.Do("GET", "/v1/tag/"+s.TagID("Go")+"/link/"+other, "").Want(200)["id"]; got != other {
		t.Errorf("got %v", got)
	}
	s.Do("GET", "/v1/tag/"+s.TagID("Go")+"/link/"+id, "").Problem(404, "not-found", "")
	s.Do("GET", "/v1/tag/nothing/links", "").Problem(404, "not-found", "")
	s.Do("GET", "/v1/link/nothing/tags", "").Problem(404, "not-found", "")
}

func TestTagsThatLookTheSame(t *testing.T) {
	s := apptest.New(t)
	id := s.Save("https://a.test", "❤").ID
	s.Save("https://b.test", "❤\ufe0f")
	s.Save("https://c.test", "مَدرسة", "مدرسة")
	if got := apptest.Column(s.Do("POST", "/v1/link/"+id+"/tags", `{"tags":["❤\ufe0f"]}`).Want(200), "name"); got != "❤" {
		t.Errorf("got tags %q", got)
	}
	if got := apptest.Column(s.Do("GET", "/v1/tags", "").Want(200), "name"); got != "مَدرسة ❤" {
		t.Errorf("got tags %q", got)
	}
	for _, at := range []string{"/v1/links?tag=❤\ufe0f", "/v1/search?q=tag:❤\ufe0f", "/v1/tag/" + s.TagID("❤") + "/links"} {
		if got := apptest.Results(s.Do("GET", at, "").Want(200)); len(got) != 2 {
			t.Errorf("%s: got %d links", at, len(got))
		}
	}
}

func TestTooManyTags(t *testing.T) {
	s := apptest.New(t)
	id := s.Save("https://a.test", "one").ID
	var names []string
	for i := range 64 {
		names = append(names, fmt.Sprintf(`"t%d"`, i))
	}
	all := `{"tags":[` + strings.Join(names, ",") + `]}`
	s.Do("POST", "/v1/link/"+id+"/tags", all).Problem(400, "too-many-tags", "")
	if got := apptest.Column(s.Do("GET", "/v1/link/"+id+"/tags", "").Want(200), "name"); got != "one" {
		t.Errorf("got tags %q, want none", got)
	}
}

func TestTagLists(t *testing.T) {
	s := apptest.New(t)
	for _, l := range [][]string{{"https://a.test", "beta", "alpha"}, {"https://b.test", "alpha"}, {"https://c.test", "gamma"}} {
		s.Save(l[0], l[1:]...)
		s.Clock.Advance(time.Second)
	}
	for path, want := range map[string]string{
		"/v1/tags":                          "alpha beta gamma",
		"/v1/tags?q=ET":                     "beta",
		"/v1/popular-tags?per_page=1":       "alpha",
		"/v1/recent-tags?per_page=1":        "gamma",
		"/v1/recent-tags?per_page=1&page=2": "alpha",
	} {
		if got := apptest.Column(s.Do("GET", path, "").Want(200), "name"); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

// A tag can be read and renamed. The name of another tag needs merge.
func TestTag_API(t *testing.T) {
	s := apptest.New(t)
	id := s.Save("https://a.test", "golang", "web").ID
	at := "/v1/tag/" + s.TagID("golang")
	tag := s.Do("GET", at, "").Want(200)
	apptest.Has(t, tag, map[string]any{"name": "golang", "link_count": 1})
	apptest.Has(t, s.Do("PATCH", at, `{"name":"Go"}`).Want(200), map[string]any{"id": tag["id"], "name": "Go", "link_count": 1})
	s.Do("PATCH", at, `{"name":"WEB"}`).Problem(409, "conflict", "")
	s.Do("PATCH", at, `{"name":""}`).Problem(400, "invalid-request", "name")
	apptest.Has(t, s.Do("PATCH", at, `{"name":"WEB","merge":true}`).Want(200), map[string]any{"name": "web", "id": s.TagID("web")})
	if got := apptest.Column(s.Do("GET", "/v1/link/"+id+"/tags", "").Want(200), "name"); got != "web" {
		t.Errorf("got tags %q", got)
	}
	s.Do("GET", at, "").Problem(404, "not-found", "")
	s.Do("PATCH", at, `{"name":"x"}`).Problem(404, "not-found", "")
}
