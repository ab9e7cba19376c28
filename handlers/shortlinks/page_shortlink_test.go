package shortlinks_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/shortlinks"
	"linkwatch/views/qr"
)

// TestEditShortLinkOnItsPage: edits are stored, and an expiry that is not edited keeps its seconds.
func TestEditShortLinkOnItsPage(t *testing.T) {
	s := apptest.New(t)
	end := s.ShortLinks.Now().Add(3*time.Hour + 17*time.Second)
	s.Shorten("https://example.com", "Spring", func(n *shortlinks.New) { n.ExpiresAt = end })
	a := s.Get("/short/Spring?edit=1")
	apptest.WantCount(t, a, "details#edit[open]", 1)
	apptest.WantText(t, a, `option[value="kept"][selected]`, "Unchanged: 24 Mar 2026, 15:00 UTC")
	a = s.Follow("/short/Spring", url.Values{"long_url": {"https://example.com/b"}, "title": {"B"}, "expires": {"kept"}, "max_visits": {"3"}})
	apptest.WantText(t, a, ".flash", "Saved.")
	apptest.WantText(t, a, "h1", "B")
	apptest.WantText(t, a, ".state", "3 visits left of 3.")
	if l, err := s.ShortLinks.Get(t.Context(), "Spring"); err != nil || l.ExpiresAt != end || l.LongURL != "https://example.com/b" {
		t.Errorf("%+v: %v", l, err)
	}
	visit(s, "Spring", 3, somebody)
	apptest.WantText(t, s.Get("/short/Spring"), ".state", "The limit of 3 visits is reached.")
	apptest.WantText(t, s.Get("/short?status=expired"), ".short-links .visits", "3 of 3")
	a = s.Follow("/short/Spring", url.Values{"long_url": {"https://example.com/b"}, "expires": {""}, "max_visits": {""}})
	apptest.WantText(t, a, ".state", "active Never expires.")
	apptest.WantCount(t, a, `option[value="kept"]`, 0)
	apptest.WantCount(t, a, ".extend", 0)
	a = s.Follow("/short/Spring", url.Values{"long_url": {"https://example.com/b"}, "expires": {"at"}, "expires_at": {"2026-03-25T09:30"}})
	apptest.WantText(t, a, ".state", "expires · 25 Mar 2026, 09:30 UTC in 21 h")
	apptest.WantStatus(t, s.Post("/short/None", url.Values{"long_url": {"https://example.com"}}), http.StatusNotFound)

	s.Clock.Advance(48 * time.Hour) // the title of an expired short link can be edited
	a = s.Follow("/short/Spring", url.Values{"long_url": {"https://example.com/b"}, "title": {"Late"}, "expires": {"kept"}})
	apptest.WantText(t, a, "h1", "Late")
	apptest.WantText(t, a, ".state", "It is kept with its statistics until 29 Apr 2027, 09:30 UTC. Extend it to use it again.")
}

// TestBlockedShortLink: the page of a short link to a blocked host shows what visitors see.
func TestBlockedShortLink(t *testing.T) {
	before := apptest.New(t)
	before.Shorten("https://bad.example", "Spring")
	s := apptest.New(t, apptest.On(before.DB), apptest.Set("SHORT_BLOCKED_HOSTS", "bad.example"))
	apptest.WantText(t, s.Get("/short/Spring"), ".state", "The destination of this short link is blocked on this server. Visitors get an error page.")
}

func TestExtendShortLink(t *testing.T) {
	s := apptest.New(t)
	end := s.ShortLinks.Now().Add(3 * time.Hour)
	s.Shorten("https://example.com", "Spring", func(n *shortlinks.New) { n.ExpiresAt = end })
	ends := func() models.Time {
		l, err := s.ShortLinks.Get(t.Context(), "Spring")
		if err != nil {
			t.Fatal(err)
		}
		return l.ExpiresAt
	}
	a := s.Follow("/short/Spring/extend", url.Values{"by": {"24h"}})
	apptest.WantText(t, a, ".state", "in 1 day")
	if want := end.Add(24 * time.Hour); ends() != want {
		t.Errorf("got expiry %s, want %s", ends(), want)
	}
	s.Clock.Advance(30 * time.Hour)
	apptest.WantText(t, s.Get("/short/Spring"), ".state", "expired")
	s.Follow("/short/Spring/extend", url.Values{"by": {"168h"}})
	if want := s.ShortLinks.Now().Add(168 * time.Hour); ends() != want {
		t.Errorf("got expiry %s, want a week from now, %s", ends(), want)
	}
	before := ends()
	for _, form := range []url.Values{{"by": {"-24h"}}, {"by": {"a while"}}, {"by": {"999999h"}}, {}} {
		apptest.WantStatus(t, s.Post("/short/Spring/extend", form), http.StatusBadRequest)
	}
	if ends() != before {
		t.Errorf("got expiry %s, want %s as before", ends(), before)
	}
	s.Follow("/short/Spring/extend", url.Values{"by": {""}})
	if !ends().IsZero() {
		t.Errorf("got expiry %s, want never", ends())
	}
	s.Follow("/short/Spring/extend", url.Values{"by": {"24h"}}) // a short link without an expiry gets none
	if !ends().IsZero() {
		t.Errorf("got expiry %s, want never", ends())
	}
	apptest.WantStatus(t, s.Post("/short/None/extend", url.Values{"by": {"24h"}}), http.StatusNotFound)
}

func TestDisableDeleteAndUndo(t *testing.T) {
	s := apptest.New(t)
	s.Shorten("https://example.com", "Spring")
	visit(s, "Spring", 2, somebody)
	a := s.Follow("/short/Spring/disabled", url.Values{"disabled": {"true"}, "back": {"/short?q=spring&status=active"}})
	apptest.WantText(t, a, ".flash", "Short link disabled.")
	apptest.WantText(t, a, ".empty", "No matching short links")
	apptest.WantText(t, s.Get("/short/Spring"), ".state", "Visitors get an error page. Enable the short link to redirect again.")
	a = s.Submit(s.Get("/short?status=disabled"), ".acts form")
	apptest.WantText(t, a, ".flash", "Short link enabled.")

	a = s.Follow("/short/Spring/delete", nil)
	apptest.WantText(t, a, ".flash", "Short link deleted.")
	apptest.WantText(t, a, ".empty", "No short links yet")
	apptest.WantStatus(t, s.Get("/short/Spring"), http.StatusNotFound)
	apptest.WantStatus(t, s.Get("/short/Spring/qr.svg"), http.StatusNotFound)
	a = s.Submit(a, ".flash form")
	apptest.WantText(t, a, ".flash", "Short link restored.")
	apptest.WantText(t, a, ".facts", "Visits 2")
	apptest.WantStatus(t, s.Post("/short/Spring/restore", nil), http.StatusNotFound)
	apptest.WantCount(t, s.Get("/short?removed="+url.QueryEscape(`"><script>`)), ".flash", 0)
	apptest.WantCount(t, s.Get("/short?removed="+url.QueryEscape("../../links/x")), ".flash", 0)
}

func TestVisitsOnPages(t *testing.T) {
	s := apptest.New(t)
	s.Shorten("https://example.com", "Spring")
	a := s.Get("/short/Spring")
	apptest.WantText(t, a, ".chart", "No visits in this period")
	apptest.WantText(t, a, ".all-well", "No visits yet.")
	visit(s, "Spring", 3, somebody)
	s.Clock.Advance(24 * time.Hour)
	visit(s, "Spring", 2, onAPhone)
	visit(s, "Spring", 4, aBot)
	visit(s, "Spring", 1, aChat)
	visit(s, "Spring", 1, shortlinks.Visitor{Referrer: "https://xn--bcher-kva.example/", UserAgent: somebody.UserAgent})
	a = s.Get("/short/Spring")
	apptest.WantText(t, a, ".facts", "Visits 6 Bots 4 Previews 1")
	apptest.WantText(t, a, "section[aria-labelledby=visits] .section-head", "6 visits · 4 bots · 1 preview")
	apptest.WantText(t, a, ".ranges [aria-current]", "6 30 days")
	apptest.WantText(t, a, ".chart title", "25 Mar 2026 3 visits · 4 bots · 1 preview")
	if got := a.Find(".chart svg[role=img]").AttrOr("aria-label", ""); got != "Requests over the last 30 days: 6 visits · 4 bots · 1 preview" {
		t.Errorf("got chart %q", got)
	}
	apptest.WantCount(t, a, ".figures tbody tr", 30)
	apptest.WantText(t, a, ".figures tbody tr:first-child", "25 Mar 2026 3 4 1 1 2 0")
	apptest.WantText(t, a, "section[aria-labelledby=devices]", "Desktop 4 Mobile 2")
	apptest.WantText(t, a, "section[aria-labelledby=referrers]", "news.example 3")
	apptest.WantText(t, a, "section[aria-labelledby=referrers]", "Direct or unknown 2")
	a = s.Get("/short/Spring?days=400")
	apptest.WantCount(t, a, ".figures tbody tr", 50)
	apptest.WantText(t, a, ".figures tbody tr:first-child", "18 Mar to 25 Mar 2026 6 4 1 4 2 0")
	apptest.WantText(t, s.Get("/short"), ".short-links .visits", "6")
}

// TestShortenALink: one click shortens a saved link, only once.
func TestShortenALink(t *testing.T) {
	s := apptest.New(t)
	l := s.Save("https://example.com/x")
	a := s.Submit(s.Get("/links/"+l.ID), `form[action$="/shorten"]`)
	apptest.WantText(t, a, ".flash", "Short link created.")
	apptest.WantCount(t, a, `form[action$="/shorten"]`, 0)
	address := a.Find("section[aria-labelledby=shortened] [data-copy]").AttrOr("data-copy", "")
	apptest.WantText(t, a, "section[aria-labelledby=shortened]", "0 visits Expires never")
	key, ok := strings.CutPrefix(address, "http://127.0.0.1:8080/s/")
	if !ok || len(key) != 7 {
		t.Fatalf("got short URL %q", address)
	}
	a = s.Follow("/links/"+l.ID+"/shorten", nil) // a second click in another tab
	apptest.WantCount(t, s.Get("/short"), ".short-links tbody tr", 1)
	a = s.Get(a.Find("section[aria-labelledby=shortened] .section-head a").AttrOr("href", ""))
	apptest.WantText(t, a, "h1", l.Title)
	apptest.WantText(t, a, "aside section", l.Title)
	apptest.WantCount(t, a, `aside a[href="/links/`+l.ID+`"]`, 1)
	s.Follow("/short/"+key+"/disabled", url.Values{"disabled": {"true"}})
	apptest.WantCount(t, s.Get("/links/"+l.ID), `form[action$="/shorten"]`, 1)
	apptest.WantStatus(t, s.Post("/links/"+models.NewID(models.KindLink)+"/shorten", nil), http.StatusNotFound)

	s.Shorten("https://example.com/other", "Other")
	a = s.Submit(s.Get("/short/Other"), `aside form[action="/links"]`)
	apptest.WantText(t, a, ".flash", "Link saved: ")
}

func TestShortQR(t *testing.T) {
	s := apptest.New(t)
	s.Shorten("https://example.com", "Spring")
	a := s.Get("/short/Spring/qr.svg")
	want, err := qr.SVG("http://127.0.0.1:8080/s/Spring")
	if err != nil || a.StatusCode != 200 || a.Header.Get("Content-Type") != "image/svg+xml" || a.HTML != string(want) {
		t.Errorf("got status %d, %s, %v", a.StatusCode, a.Header.Get("Content-Type"), err)
	}
}
