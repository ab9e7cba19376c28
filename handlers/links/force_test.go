package links_test

import (
	"net/url"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/links"
)

// TestSaveForced: force saves a link whose page cannot be fetched, and its health shows that.
func TestSaveForced(t *testing.T) {
	t.Parallel()
	s := apptest.New(t)
	s.Web.Set("https://gone.test/", links.Page{Status: 404})
	s.Web.Set("https://guarded.test/", links.Page{Status: 403})
	s.Web.Set("https://nohost.test/", &links.FetchError{Reason: "host not found"})
	s.Web.Set("https://private.test/", &links.FetchError{Reason: "address not allowed", Blocked: true})
	for host, want := range map[string]map[string]any{
		"gone":    {"health": "dead", "last_status_code": 404.0, "expired": false, "title": "https://gone.test/"},
		"guarded": {"health": "blocked", "last_status_code": 403.0, "expired": false, "title": "https://guarded.test/"},
		"nohost":  {"health": "suspect", "last_status_code": nil, "expired": false, "title": "https://nohost.test/"},
		"private": {"health": "blocked", "last_status_code": nil, "expired": false, "title": "https://private.test/"},
		"fine":    {"health": "ok", "last_status_code": 200.0, "expired": false, "title": "Page of https://fine.test/"},
	} {
		call := `{"url":"https://` + host + `.test/","tags":["Go"],"notes":"why"`
		if host != "fine" {
			if a := s.Do("POST", "/v1/links", call+`}`); a.Status != 422 {
				t.Errorf("%s without force: got %d, %s", host, a.Status, a.Body)
			}
			if a := s.Do("POST", "/v1/links", call+`,"force":false}`); a.Status != 422 {
				t.Errorf("%s with force false: got %d, %s", host, a.Status, a.Body)
			}
		}
		l := s.Do("POST", "/v1/links", call+`,"force":true}`).Want(201)
		for member, value := range want {
			if l[member] != value {
				t.Errorf("%s: got %s = %v, want %v", host, member, l[member], value)
			}
		}
		if l["notes"] != "why" {
			t.Errorf("%s: %v", host, l)
		}
		again := s.Do("POST", "/v1/links", `{"url":"https://`+host+`.test","tags":["new"],"title":"other","force":true}`).Want(200)
		if again["id"] != l["id"] || again["title"] != l["title"] || len(again["tags"].([]any)) != 2 {
			t.Errorf("%s again: got %v", host, again)
		}
	}
	s.Web.Set("https://down.test/", links.Page{Status: 503})
	if l := s.Do("POST", "/v1/links", `{"url":"https://down.test/","title":"Mine","force":true}`).Want(201); l["title"] != "Mine" || l["health"] != "suspect" {
		t.Errorf("%v", l)
	}
	if l := s.Do("POST", "/v1/links", `{"url":"https://titled.test/","title":"Mine"}`).Want(201); l["title"] != "Mine" || l["health"] != "ok" {
		t.Errorf("%v", l)
	}
	s.Do("POST", "/v1/links", `{"url":"https://titled.test/2","title":"`+strings.Repeat("x", links.MaxTitle+1)+`"}`).Problem(400, "invalid-request", "title")
	s.Do("POST", "/v1/links", `{"url":"https://256.1.1.1/","force":true}`).Problem(400, "invalid-request", "url")
}

// TestSaveAnyway: the form offers to save a link anyway when its page could not be fetched.
func TestSaveAnyway(t *testing.T) {
	s := apptest.New(t)
	s.Web.Set("https://down.example/a", links.Page{Status: 500})
	s.Web.Set("https://gone.example/", links.Page{Status: 404})
	s.Web.Set("https://private.example", &links.FetchError{Reason: "address not allowed", Blocked: true})
	s.Web.Set("https://full.example", &links.FetchError{Reason: "too many fetches", Busy: true})
	for in, status := range map[string]int{"down.example/a": 422, "https://gone.example/": 422, "https://private.example": 422, "https://full.example": 503} {
		form := url.Values{"url": {in}, "tags": {"a, b"}, "notes": {"kept <b>"}}
		a := s.Post("/links", form)
		apptest.WantStatus(t, a, status)
		apptest.WantText(t, a, "form.add button[name=force]", "Save anyway")
		for name, value := range map[string]string{"input[name=url]": in, "input[name=tags]": "a, b"} {
			if got := a.Find("form.add "+name).AttrOr("value", ""); got != value {
				t.Errorf("got %s=%q in the form", name, got)
			}
		}
		if got := a.Find("form.add textarea").Text(); got != "kept <b>" {
			t.Errorf("got notes %q in the form", got)
		}
		form.Set("force", a.Find("form.add button[name=force]").AttrOr("value", ""))
		a = s.Follow("/links", form)
		apptest.WantText(t, a, ".flash", "Link saved: "+models.RepairURL(in))
		l, ok, err := s.Links.ByURL(t.Context(), strings.TrimSuffix(models.RepairURL(in), "/"))
		if err != nil || !ok || l.Expired() || l.Notes != "kept <b>" || len(l.Tags) != 2 {
			t.Errorf("%s: got %+v, %v", in, l, err)
		}
		apptest.WantStatus(t, s.Get("/links/"+l.ID), 200)
	}
	for _, in := range []string{"ftp://example.com", "", "https://256.1.1.1"} {
		apptest.WantCount(t, s.Post("/links", url.Values{"url": {in}}), "button[name=force]", 0)
	}
	apptest.WantCount(t, s.Post("/links", url.Values{"url": {"https://example.com"}, "tags": {strings.Repeat("x", 65)}}), "button[name=force]", 0)
	apptest.WantCount(t, s.Get("/links"), "button[name=force]", 0)
}
