package links_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/links"
)

// TestDescriptionOfAPage: a page without OpenGraph has the description of its meta element.
func TestDescriptionOfAPage(t *testing.T) {
	s := apptest.New(t)
	s.Web.Set("https://example.com/plain", links.Page{Status: 200, URL: "https://example.com/plain", Title: "Plain", Description: "Of <meta>"})
	apptest.WantText(t, s.Get("/links/"+s.Save("https://example.com/plain").ID), ".description", "Of <meta>")
}

func TestLinkPage(t *testing.T) {
	s := apptest.New(t)
	s.Web.Set("https://example.com/a", links.Page{
		Status: 200, URL: "https://example.com/a", Title: "Fetched",
		OpenGraph: links.OpenGraph{Description: hostile, SiteName: "The site", Image: "https://example.com/i.png"},
	})
	l := s.Save("https://example.com/a", "one", "two")
	path := "/links/" + l.ID
	a := s.Get(path)
	apptest.WantText(t, a, "h1", "Fetched")
	apptest.WantText(t, a, ".description", hostile)
	apptest.WantCount(t, a, "main script", 0)
	if img := a.Find(".picture img"); img.AttrOr("referrerpolicy", "") != "no-referrer" || img.AttrOr("loading", "") != "lazy" {
		t.Error("the picture sends a referrer or is not lazy")
	}

	a = s.Follow(path, url.Values{"title": {"Mine <b>"}, "notes": {"line\nline"}})
	apptest.WantText(t, a, "h1", "Mine <b>")
	apptest.WantText(t, a, ".notes", "line line")
	a = s.Post(path, url.Values{"title": {strings.Repeat("t", links.MaxTitle+1)}, "notes": {"typed"}})
	apptest.WantStatus(t, a, http.StatusBadRequest)
	apptest.WantText(t, a, "#title-error", "Title must have at most 500 characters.")
	apptest.WantText(t, a, "details[open] textarea", "typed")

	a = s.Follow(path+"/tags", url.Values{"tags": {"three"}})
	apptest.WantText(t, a, ".tag-list", "one two three")
	a = s.Submit(a, ".tag-list li:first-child form")
	apptest.WantText(t, a, ".flash", "Tag removed: one")
	apptest.WantText(t, a, ".tag-list", "two three")
	a = s.Submit(a, ".flash form")
	apptest.WantText(t, a, ".tag-list", "one")
	apptest.WantStatus(t, s.Post(path+"/tags", url.Values{"tags": {strings.Repeat("x", 99)}}), http.StatusBadRequest)

	a = s.Submit(s.Get(path), `form[action$="/refresh"]`)
	apptest.WantText(t, a, ".flash", "Link refreshed")
	apptest.WantText(t, a, "nav a[aria-current=page]", "Links")
	s.Web.Set("https://example.com/a", &links.FetchError{Reason: "rate limited by the host", RetryAfter: time.Minute})
	apptest.WantText(t, s.Submit(a, `form[action$="/refresh"]`), ".flash.bad", "The site limits requests.")
	a = s.Submit(a, `form[action$="/expired"]`)
	apptest.WantText(t, a, ".flash", "1 link expired.")
	apptest.WantText(t, a, ".state", "hidden from lists")
	a = s.Submit(a, `.actions form[action$="/expired"]`)
	apptest.WantText(t, a, ".flash", "1 link revived.")
	a = s.Submit(a, `form[action$="/delete"]`)
	apptest.WantText(t, a, ".flash", "1 link deleted.")
	apptest.WantStatus(t, s.Get(path), http.StatusNotFound)
	s.Submit(a, ".flash form")
	a = s.Get(path)
	apptest.WantText(t, a, "h1", "Mine <b>")
	apptest.WantText(t, a, ".facts", "Views 0")
	if got := s.Get("/links/random").Header.Get("Location"); got != path {
		t.Errorf("random link: got %q", got)
	}
}
