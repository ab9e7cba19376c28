package handlers_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"linkwatch/handlers"
	"linkwatch/models"
	"linkwatch/models/shortlinks"
	"linkwatch/models/shortlinks/cache"
	"linkwatch/models/shortlinks/visits"
	"linkwatch/views/qr"
)

// TestEditShortLinkOnItsPage: what its owner sets is stored, and an end that is not
// touched stays to the second.
func TestEditShortLinkOnItsPage(t *testing.T) {
	s := newSite(t)
	end := s.short.Now().Add(3*time.Hour + 17*time.Second)
	s.shorten("https://example.com", "Spring", func(n *shortlinks.New) { n.ExpiresAt = end })
	a := s.get("/short/Spring?edit=1")
	wantCount(t, a, "details#edit[open]", 1)
	wantText(t, a, `option[value="kept"][selected]`, "As now: 24 Mar 2026, 15:00 UTC")
	a = s.follow("/short/Spring", url.Values{"long_url": {"https://example.com/b"}, "title": {"B"}, "ends": {"kept"}, "max_visits": {"3"}})
	wantText(t, a, ".flash", "Saved.")
	wantText(t, a, "h1", "B")
	wantText(t, a, ".state", "It leads on for 3 visits more, of 3.")
	if l, err := s.short.Get(t.Context(), "Spring"); err != nil || l.ExpiresAt != end || l.LongURL != "https://example.com/b" {
		t.Errorf("%+v: %v", l, err)
	}
	s.visit("Spring", 3, somebody)
	wantText(t, s.get("/short/Spring"), ".state", "Its 3 visits are used up")
	wantText(t, s.get("/short?status=expired"), ".short-links .visits", "3 of 3")
	a = s.follow("/short/Spring", url.Values{"long_url": {"https://example.com/b"}, "ends": {""}, "max_visits": {""}})
	wantText(t, a, ".state", "active It leads on until you disable or delete it.")
	wantCount(t, a, `option[value="kept"]`, 0)
	wantCount(t, a, ".extend", 0)
	a = s.follow("/short/Spring", url.Values{"long_url": {"https://example.com/b"}, "ends": {"at"}, "ends_at": {"2026-03-25T09:30"}})
	wantText(t, a, ".state", "ends · 25 Mar 2026, 09:30 UTC in 21 h")
	wantStatus(t, s.post("/short/None", url.Values{"long_url": {"https://example.com"}}), http.StatusNotFound)

	s.clock.Advance(48 * time.Hour) // the title of what has expired can be changed
	a = s.follow("/short/Spring", url.Values{"long_url": {"https://example.com/b"}, "title": {"Late"}, "ends": {"kept"}})
	wantText(t, a, "h1", "Late")
	wantText(t, a, ".state", "Visitors see that it has expired.")
}

// TestBlockedShortLink: a page does not say of a link that it leads on while
// visitors are told otherwise.
func TestBlockedShortLink(t *testing.T) {
	s := newSite(t, func(d *handlers.Deps) {
		if _, _, err := d.ShortLinks.Add(t.Context(), shortlinks.New{LongURL: "https://bad.example", Key: "Spring"}); err != nil {
			t.Fatal(err)
		}
		restarted := cache.NewMemory(10, nil)
		t.Cleanup(restarted.Close)
		d.ShortLinks = shortlinks.NewStore(d.DB, nil, restarted, visits.New(), shortlinks.Options{BlockedHosts: []string{"bad.example"}})
	})
	wantText(t, s.get("/short/Spring"), ".state", "This short link leads to an address that this server does not link to. Visitors see that.")
}

func TestExtendShortLink(t *testing.T) {
	s := newSite(t)
	end := s.short.Now().Add(3 * time.Hour)
	s.shorten("https://example.com", "Spring", func(n *shortlinks.New) { n.ExpiresAt = end })
	ends := func() models.Time {
		l, err := s.short.Get(t.Context(), "Spring")
		if err != nil {
			t.Fatal(err)
		}
		return l.ExpiresAt
	}
	a := s.follow("/short/Spring/extend", url.Values{"by": {"24h"}})
	wantText(t, a, ".state", "in 1 day")
	if want := end.Add(24 * time.Hour); ends() != want {
		t.Errorf("it ends %s, want %s", ends(), want)
	}
	s.clock.Advance(30 * time.Hour)
	wantText(t, s.get("/short/Spring"), ".state", "expired")
	s.follow("/short/Spring/extend", url.Values{"by": {"168h"}})
	if want := s.short.Now().Add(168 * time.Hour); ends() != want {
		t.Errorf("it ends %s, want a week from now, %s", ends(), want)
	}
	before := ends()
	for _, form := range []url.Values{{"by": {"-24h"}}, {"by": {"a while"}}, {"by": {"999999h"}}, {}} {
		wantStatus(t, s.post("/short/Spring/extend", form), http.StatusBadRequest)
	}
	if ends() != before {
		t.Errorf("it ends %s, want %s still", ends(), before)
	}
	s.follow("/short/Spring/extend", url.Values{"by": {""}})
	if !ends().IsZero() {
		t.Errorf("it ends %s, want never", ends())
	}
	s.follow("/short/Spring/extend", url.Values{"by": {"24h"}}) // what never ends is not made to end
	if !ends().IsZero() {
		t.Errorf("it ends %s, want never", ends())
	}
	wantStatus(t, s.post("/short/None/extend", url.Values{"by": {"24h"}}), http.StatusNotFound)
}

func TestDisableDeleteAndUndo(t *testing.T) {
	s := newSite(t)
	s.shorten("https://example.com", "Spring")
	s.visit("Spring", 2, somebody)
	a := s.follow("/short/Spring/disabled", url.Values{"disabled": {"true"}, "back": {"/short?q=spring&status=active"}})
	wantText(t, a, ".flash", "Disabled.")
	wantText(t, a, ".empty", "No short link matches")
	wantText(t, s.get("/short/Spring"), ".state", "Visitors see that it is switched off.")
	a = s.submit(s.get("/short?status=disabled"), ".acts form")
	wantText(t, a, ".flash", "Enabled.")

	a = s.follow("/short/Spring/delete", nil)
	wantText(t, a, ".flash", "The short link is deleted")
	wantText(t, a, ".empty", "No short links yet")
	wantStatus(t, s.get("/short/Spring"), http.StatusNotFound)
	wantStatus(t, s.get("/short/Spring/qr.svg"), http.StatusNotFound)
	a = s.submit(a, ".flash form")
	wantText(t, a, ".flash", "It is back, with its visits.")
	wantText(t, a, ".facts", "Visits 2")
	wantStatus(t, s.post("/short/Spring/restore", nil), http.StatusNotFound)
	wantCount(t, s.get("/short?removed="+url.QueryEscape(`"><script>`)), ".flash", 0)
	wantCount(t, s.get("/short?removed="+url.QueryEscape("../../links/x")), ".flash", 0)
}

func TestVisitsOnPages(t *testing.T) {
	s := newSite(t)
	s.shorten("https://example.com", "Spring")
	a := s.get("/short/Spring")
	wantText(t, a, ".chart", "No visits in this time")
	wantText(t, a, ".all-well", "Nobody came yet.")
	s.visit("Spring", 3, somebody)
	s.clock.Advance(24 * time.Hour)
	s.visit("Spring", 2, onAPhone)
	s.visit("Spring", 4, aBot)
	s.visit("Spring", 1, shortlinks.Visitor{Referrer: "https://xn--bcher-kva.example/", UserAgent: somebody.UserAgent})
	a = s.get("/short/Spring")
	wantText(t, a, ".facts", "Visits 10 · 4 by bots")
	wantText(t, a, "section[aria-labelledby=visits] .section-head", "6 by people · 4 by bots")
	wantText(t, a, ".ranges [aria-current]", "10 30 days")
	wantText(t, a, ".chart title", "25 Mar 2026 3 visits by people, 4 by bots")
	if got := a.Find(".chart svg[role=img]").AttrOr("aria-label", ""); got != "Visits over the last 30 days: 6 by people, 4 by bots" {
		t.Errorf("the chart says %q", got)
	}
	wantCount(t, a, ".figures tbody tr", 30)
	wantText(t, a, ".figures tbody tr:first-child", "25 Mar 2026 3 4 1 2 0")
	wantText(t, a, "section[aria-labelledby=devices]", "Desktop 4 Mobile 2")
	wantText(t, a, "section[aria-labelledby=referrers]", "news.example 3")
	wantText(t, a, "section[aria-labelledby=referrers]", "Typed, scanned or not told 2")
	a = s.get("/short/Spring?days=400")
	wantCount(t, a, ".figures tbody tr", 50)
	wantText(t, a, ".figures tbody tr:first-child", "18 Mar to 25 Mar 2026 6 4 4 2 0")
	wantText(t, s.get("/short"), ".short-links .visits", "10")
}

// TestShortenALink: one click on a saved link shortens it, once.
func TestShortenALink(t *testing.T) {
	s := newSite(t)
	l := s.save("https://example.com/x")
	a := s.submit(s.get("/links/"+l.ID), `form[action$="/shorten"]`)
	wantText(t, a, ".flash", "The link has a short address.")
	wantCount(t, a, `form[action$="/shorten"]`, 0)
	address := a.Find("section[aria-labelledby=shortened] [data-copy]").AttrOr("data-copy", "")
	wantText(t, a, "section[aria-labelledby=shortened]", "0 visits ends never")
	key, ok := strings.CutPrefix(address, "http://127.0.0.1:8080/s/")
	if !ok || len(key) != 7 {
		t.Fatalf("the short address is %q", address)
	}
	a = s.follow("/links/"+l.ID+"/shorten", nil) // a second click, say, on another tab
	wantCount(t, s.get("/short"), ".short-links tbody tr", 1)
	a = s.get(a.Find("section[aria-labelledby=shortened] .section-head a").AttrOr("href", ""))
	wantText(t, a, "h1", l.Title)
	wantText(t, a, "aside section", l.Title)
	wantCount(t, a, `aside a[href="/links/`+l.ID+`"]`, 1)
	s.follow("/short/"+key+"/disabled", url.Values{"disabled": {"true"}})
	wantCount(t, s.get("/links/"+l.ID), `form[action$="/shorten"]`, 1)
	wantStatus(t, s.post("/links/"+models.NewID(models.KindLink)+"/shorten", nil), http.StatusNotFound)

	s.shorten("https://example.com/other", "Other")
	a = s.submit(s.get("/short/Other"), `aside form[action="/links"]`)
	wantText(t, a, ".flash", "Saved: ")
}

func TestShortQR(t *testing.T) {
	s := newSite(t)
	s.shorten("https://example.com", "Spring")
	a := s.get("/short/Spring/qr.svg")
	want, err := qr.SVG("http://127.0.0.1:8080/s/Spring")
	if err != nil || a.StatusCode != 200 || a.Header.Get("Content-Type") != "image/svg+xml" || a.body != string(want) {
		t.Errorf("status %d, %s: %v", a.StatusCode, a.Header.Get("Content-Type"), err)
	}
}
