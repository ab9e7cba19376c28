package handlers_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/linkwatch/linkwatch/handlers"
	"github.com/linkwatch/linkwatch/handlers/httpx"
	"github.com/linkwatch/linkwatch/models"
	"github.com/linkwatch/linkwatch/models/shortlinks"
)

// shorten makes a short link; change may set what its owner may.
func (s *site) shorten(longURL, key string, change ...func(*shortlinks.New)) shortlinks.ShortLink {
	s.t.Helper()
	n := shortlinks.New{LongURL: longURL, Key: key}
	for _, set := range change {
		set(&n)
	}
	l, created, err := s.short.Create(s.t.Context(), n)
	if err != nil || !created {
		s.t.Fatal(created, err)
	}
	s.clock.Advance(time.Minute)
	return l
}

// visit goes to a short link so many times, and writes the visits down.
func (s *site) visit(key string, n int, v shortlinks.Visitor) {
	s.t.Helper()
	for range n {
		if _, err := s.short.Visit(s.t.Context(), key, v); err != nil {
			s.t.Fatal(err)
		}
	}
	over, cancel := context.WithCancel(s.t.Context())
	cancel()
	s.short.Visits().Gather(over) // what is in the queue
	if err := s.short.WriteVisits(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// Visitors of three sorts.
var (
	somebody = shortlinks.Visitor{
		Referrer: "https://news.example/today", UserAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
	}
	onAPhone = shortlinks.Visitor{
		UserAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
	}
	aBot = shortlinks.Visitor{UserAgent: "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"}
)

func TestShortPage(t *testing.T) {
	s := newSite(t)
	a := s.get("/short")
	wantText(t, a, ".empty", "No short links yet")
	wantCount(t, a, ".filters nav", 0)
	wantText(t, a, "#prefix", "127.0.0.1:8080/s/")
	wantText(t, s.get("/"), ".first", "shorten a long URL")
	if got := s.get("/short?url=https://example.com/x").Find("#url").AttrOr("value", ""); got != "https://example.com/x" {
		t.Errorf("the form begins with %q", got)
	}

	a = s.follow("/short", url.Values{"long_url": {"EXAMPLE.com/x?y=1"}, "short_key": {"Spring"}, "title": {hostile}, "ends": {"168h"}, "max_visits": {"20"}})
	wantText(t, a, "h2#made", "The short link is made")
	wantText(t, a, ".made .short-address", "http://127.0.0.1:8080/s/Spring")
	if got := a.Find(".made [data-copy]").AttrOr("data-copy", ""); got != "http://127.0.0.1:8080/s/Spring" {
		t.Errorf("what is copied: %q", got)
	}
	wantText(t, a, ".made .leads-to", "https://EXAMPLE.com/x?y=1")
	wantCount(t, a, `.made img[src="/short/Spring/qr.svg"]`, 1)
	wantText(t, a, ".short-links .title", "127.0.0.1:8080/s/ Spring")
	wantText(t, a, ".short-links .words", hostile)
	wantText(t, a, ".short-links .where", "EXAMPLE.com/x?y=1")
	wantText(t, a, ".short-links .mark", "active")
	wantText(t, a, ".short-links .visits", "0 of 20")
	wantText(t, a, ".short-links .ends-in", "in 7 days")
	wantCount(t, a, "main script, main img:not(.qr)", 0)
	wantCount(t, s.get("/short?made=nothing"), ".made", 0)
	wantText(t, s.get("/"), "aside", hostile+" 0 visits")

	s.clock.Advance(time.Second)
	a = s.follow("/short", url.Values{"long_url": {"https://example.com"}})
	key := strings.TrimPrefix(a.Find(".made [data-copy]").AttrOr("data-copy", ""), "http://127.0.0.1:8080/s/")
	if len(key) != 7 {
		t.Errorf("the key that was made up is %q", key)
	}
	wantText(t, a, ".short-links tbody tr:first-child .ends-in", "never")

	s.clock.Advance(7 * 24 * time.Hour)
	wantText(t, s.get("/short?q=spring"), ".short-links .mark", "expired")
	for _, bad := range []string{"/short?status=well", "/short?page_token=x", "/short/Spring?days=8", "/short/no!", "/short/None", "/short/None/qr.svg"} {
		if a := s.get(bad); a.StatusCode != 400 && a.StatusCode != 404 {
			t.Errorf("%s: status %d", bad, a.StatusCode)
		}
	}
}

// TestShortHost: where short links have a host of their own, pages show that.
func TestShortHostOnPages(t *testing.T) {
	s := newSite(t, func(d *handlers.Deps) {
		d.Addresses = httpx.Addresses{PublicURL: "https://links.example", ShortHost: "lnk.example"}
	})
	s.shorten("https://example.com", "Spring")
	wantText(t, s.get("/short/Spring"), ".short-address", "https://lnk.example/Spring")
	wantText(t, s.get("/short"), "#prefix", "lnk.example/")
}

func TestShortPart(t *testing.T) {
	s := newSite(t)
	s.shorten("https://example.com", "Spring")
	for path, part := range map[string]string{"/short": "#short-links", "/short?q=spring&status=active": "#short-links", "/short/Spring": "#now", "/short/Spring?days=90": "#now"} {
		a := s.part(path)
		wantCount(t, a, part, 1)
		wantCount(t, a, "header, form.add, form.panel", 0)
		if got := a.Find(part).AttrOr("hx-get", ""); got == "" || got != a.Header.Get("HX-Replace-Url") {
			t.Errorf("%s polls %q, and the address bar would show %q", path, got, a.Header.Get("HX-Replace-Url"))
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set("HX-Request", "true")
		r.Header.Set("HX-History-Restore-Request", "true")
		wantCount(t, s.do(r), "nav[aria-label=Main]", 1)
	}
	if got := s.part("/short?done=disabled").Header.Get("HX-Trigger"); !strings.Contains(got, `{"say":{"text":"Disabled.`) {
		t.Errorf("the part says %q", got)
	}
}

func TestShortErrorsStandNextToTheirField(t *testing.T) {
	s := newSite(t)
	s.shorten("https://example.com", "Spring")
	typed := url.Values{
		"long_url": {"https://example.com/new"}, "short_key": {"Summer"}, "title": {"kept <b>"}, "ends": {"at"}, "ends_at": {"2030-01-02T03:04"}, "max_visits": {"12"},
	}
	for _, c := range []struct{ field, value, message string }{
		{"long_url", "ftp://example.com", "#url-error"},
		{"long_url", "javascript:alert(1)", "#url-error"},
		{"long_url", "", "#url-error"},
		{"short_key", "a b", "#key-error"},
		{"short_key", "abc", "#key-error"},
		{"short_key", "admin", "#key-error"},
		{"short_key", "Spring", "#key-error"},
		{"title", strings.Repeat("x", shortlinks.MaxTitle+1), "#title-error"},
		{"ends", "-1h", "#ends-error"},
		{"ends", "soon", "#ends-error"},
		{"ends_at", "", "#ends-error"},
		{"ends_at", "tomorrow", "#ends-error"},
		{"ends_at", "2001-01-01T00:00", "#ends-error"},
		{"ends_at", "9999-01-01T00:00", "#ends-error"},
		{"max_visits", "many", "#visits-error"},
		{"max_visits", "-1", "#visits-error"},
	} {
		form := url.Values{}
		for name, values := range typed {
			form[name] = values
		}
		form.Set(c.field, c.value)
		for _, path := range []string{"/short", "/short/Spring"} {
			if c.field == "short_key" && path != "/short" {
				continue // cannot be edited
			}
			a := s.post(path, form)
			if a.StatusCode != http.StatusBadRequest && (c.value != "Spring" || a.StatusCode != http.StatusConflict) {
				t.Errorf("POST %s with %s=%q: status %d", path, c.field, c.value, a.StatusCode)
			}
			if text(a, c.message) == "" || strings.Contains(a.body, "<b>") {
				t.Errorf("POST %s with %s=%q: no message at %s", path, c.field, c.value, c.message)
			}
			for _, name := range []string{"long_url", "short_key", "title", "ends_at", "max_visits"} {
				if path != "/short" && name == "short_key" {
					continue
				}
				if got := a.Find("main input[name="+name+"]").AttrOr("value", ""); got != form.Get(name) {
					t.Errorf("POST %s with a bad %s: %s came back as %q", path, c.field, name, got)
				}
			}
			if c.field != "ends" {
				wantCount(t, a, `option[value="at"][selected]`, 1)
			}
			if path != "/short" {
				wantCount(t, a, "details#edit[open]", 1)
			}
		}
	}
	wantCount(t, s.get("/short"), ".short-links tbody tr", 1)
}

// TestEditShortLink: what its owner sets is stored, and an end that is not
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
	for _, by := range []string{"-24h", "a while", "999999h"} {
		wantStatus(t, s.post("/short/Spring/extend", url.Values{"by": {by}}), http.StatusBadRequest)
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

func TestShortFilters(t *testing.T) {
	s := newSite(t)
	s.shorten("https://alpha.example/a", "Alpha", func(n *shortlinks.New) { n.Title = "The first" })
	s.shorten("https://beta.example/b", "Beta", func(n *shortlinks.New) { n.TTL = time.Hour })
	s.shorten("https://beta.example/c", "Gamma")
	s.follow("/short/Gamma/disabled", url.Values{"disabled": {"true"}})
	s.clock.Advance(time.Hour)
	for query, want := range map[string]string{
		"": "Gamma Beta Alpha", "status=active": "Alpha", "status=expired": "Beta", "status=disabled": "Gamma",
		"q=beta.example": "Gamma Beta", "q=FIRST": "Alpha", "q=amm": "Gamma", "q=beta&status=expired": "Beta", "q=%25": "",
	} {
		a := s.get("/short?" + query)
		wantStatus(t, a, http.StatusOK)
		got := strings.Fields(strings.ReplaceAll(text(a, ".short-links .title"), "127.0.0.1:8080/s/", ""))
		if strings.Join(got, " ") != want {
			t.Errorf("?%s shows %v, want %s", query, got, want)
		}
		if want == "" {
			wantText(t, a, ".empty", "No short link matches")
		}
	}
	a := s.get("/short?status=expired&q=beta")
	if got := a.Find(".choices .disabled").AttrOr("href", ""); got != "/short?q=beta&status=disabled" {
		t.Errorf("the chip leads to %q", got)
	}
	wantText(t, a, "#count", "1 short link")
}

func TestShortByCursor(t *testing.T) {
	s := newSite(t)
	for i := range 103 {
		s.shorten(fmt.Sprintf("https://example.com/%d", i), fmt.Sprintf("Key%d", i))
	}
	var seen []string
	path, pages := "/short", 0
	for path != "" {
		a := s.get(path)
		seen = append(seen, strings.Fields(strings.ReplaceAll(text(a, ".short-links .title"), "127.0.0.1:8080/s/", ""))...)
		pages++
		path = a.Find("a[rel=next]").AttrOr("href", "")
		if pages > 1 {
			wantCount(t, a, `a[rel=prev][href="/short"]`, 1)
			wantText(t, a, "#count", "Older short links")
		} else {
			wantText(t, a, "#count", "The newest 50")
		}
	}
	all := map[string]bool{}
	for _, key := range seen {
		all[key] = true
	}
	if len(seen) != 103 || len(all) != 103 || pages != 3 || seen[0] != "Key102" || seen[102] != "Key0" {
		t.Errorf("%d short links on %d pages: %v", len(seen), pages, seen)
	}
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
	wantText(t, a, "section[aria-labelledby=referrers]", "None was told 2")
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
	want, err := shortlinks.QR("http://127.0.0.1:8080/s/Spring")
	if err != nil || a.StatusCode != 200 || a.Header.Get("Content-Type") != "image/svg+xml" || a.body != string(want) {
		t.Errorf("status %d, %s: %v", a.StatusCode, a.Header.Get("Content-Type"), err)
	}
}

func TestShortConstantNumberOfQueries(t *testing.T) {
	s := newSite(t)
	l := s.save("https://example.com/first")
	s.shorten("https://example.com/first", "First")
	add := func(n int) {
		for i := range n {
			key := fmt.Sprintf("Key%d-%d", n, i)
			s.shorten("https://example.com/"+key, key)
			s.visit(key, 1, somebody)
		}
		s.visit("First", n, somebody)
	}
	paths := []string{"/", "/short", "/short?q=example", "/short?status=active", "/short?status=expired", "/short/First", "/short/First?days=400", "/links/" + l.ID}
	add(2)
	few := map[string]int64{}
	for _, p := range paths {
		few[p] = s.count(p)
	}
	add(297)
	for _, p := range paths {
		if n := s.count(p); n != few[p] || n == 0 {
			t.Errorf("%s: %d queries with 3 short links, %d with 300", p, few[p], n)
		}
	}
}
