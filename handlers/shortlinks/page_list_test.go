package shortlinks_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/shortlinks"
)

// Visitors of several kinds.
var (
	somebody = shortlinks.Visitor{
		Referrer: "https://news.example/today", UserAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
	}
	onAPhone = shortlinks.Visitor{
		UserAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
	}
	aChat = shortlinks.Visitor{UserAgent: byChat}
	aBot  = shortlinks.Visitor{UserAgent: "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"}
)

// hostile is a title that runs as a script if it is not escaped.
const hostile = `<script>alert(1)</script>"><img src=x onerror=alert(2)>`

func TestShortPage(t *testing.T) {
	s := apptest.New(t)
	a := s.Get("/short")
	apptest.WantText(t, a, ".empty", "No short links yet")
	apptest.WantCount(t, a, ".filters nav", 0)
	apptest.WantText(t, a, "#prefix", "127.0.0.1:8080/s/")
	apptest.WantText(t, s.Get("/"), ".first", "shorten a URL")
	if got := s.Get("/short?url=https://example.com/x").Find("#url").AttrOr("value", ""); got != "https://example.com/x" {
		t.Errorf("got first field %q", got)
	}

	a = s.Follow("/short", url.Values{"long_url": {"EXAMPLE.com/x?y=1"}, "short_key": {"Spring"}, "title": {hostile}, "expires": {"168h"}, "max_visits": {"20"}})
	apptest.WantText(t, a, "h2#made", "Short link created")
	apptest.WantText(t, a, ".made .short-address", "http://127.0.0.1:8080/s/Spring")
	if got := a.Find(".made [data-copy]").AttrOr("data-copy", ""); got != "http://127.0.0.1:8080/s/Spring" {
		t.Errorf("got text to copy %q", got)
	}
	apptest.WantText(t, a, ".made .leads-to", "https://EXAMPLE.com/x?y=1")
	apptest.WantCount(t, a, `.made img[src="/short/Spring/qr.svg"]`, 1)
	apptest.WantText(t, a, ".short-links .title", "127.0.0.1:8080/s/ Spring")
	apptest.WantText(t, a, ".short-links .words", hostile)
	apptest.WantText(t, a, ".short-links .where", "EXAMPLE.com/x?y=1")
	apptest.WantText(t, a, ".short-links .mark", "active")
	apptest.WantText(t, a, ".short-links .visits", "0 of 20")
	apptest.WantText(t, a, ".short-links .expires-in", "in 7 days")
	apptest.WantCount(t, a, "main script, main img:not(.qr)", 0)
	apptest.WantCount(t, s.Get("/short?made=nothing"), ".made", 0)
	apptest.WantText(t, s.Get("/"), "aside", hostile+" 0 visits")

	s.Clock.Advance(time.Second)
	a = s.Follow("/short", url.Values{"long_url": {"https://example.com"}})
	key := strings.TrimPrefix(a.Find(".made [data-copy]").AttrOr("data-copy", ""), "http://127.0.0.1:8080/s/")
	if len(key) != 7 {
		t.Errorf("got random key %q", key)
	}
	apptest.WantText(t, a, ".short-links tbody tr:first-child .expires-in", "never")

	s.Clock.Advance(7 * 24 * time.Hour)
	apptest.WantText(t, s.Get("/short?q=spring"), ".short-links .mark", "expired")
	for _, bad := range []string{"/short?status=well", "/short?page_token=x", "/short/Spring?days=8", "/short/no!", "/short/None", "/short/None/qr.svg"} {
		if a := s.Get(bad); a.StatusCode != 400 && a.StatusCode != 404 {
			t.Errorf("%s: status %d", bad, a.StatusCode)
		}
	}
}

// TestShortHostOnPages: pages show URLs with SHORT_HOST if it is set.
func TestShortHostOnPages(t *testing.T) {
	s := apptest.New(t, apptest.Set("PUBLIC_URL", "https://links.example"), apptest.Set("SHORT_HOST", "lnk.example"))
	s.Shorten("https://example.com", "Spring")
	apptest.WantText(t, s.Get("/short/Spring"), ".short-address", "https://lnk.example/Spring")
	apptest.WantText(t, s.Get("/short"), "#prefix", "lnk.example/")
}

func TestShortPart(t *testing.T) {
	s := apptest.New(t)
	s.Shorten("https://example.com", "Spring")
	for path, part := range map[string]string{"/short": "#short-links", "/short?q=spring&status=active": "#short-links", "/short/Spring": "#now", "/short/Spring?days=90": "#now"} {
		a := s.Part(path)
		apptest.WantCount(t, a, part, 1)
		apptest.WantCount(t, a, "header, form.add, form.panel", 0)
		if got := a.Find(part).AttrOr("hx-get", ""); got == "" || got != a.Header.Get("HX-Replace-Url") {
			t.Errorf("%s: got polling of %q and HX-Replace-Url %q", path, got, a.Header.Get("HX-Replace-Url"))
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set("HX-Request", "true")
		r.Header.Set("HX-History-Restore-Request", "true")
		apptest.WantCount(t, s.Browse(r), "nav[aria-label=Main]", 1)
	}
	if got := s.Part("/short?done=disabled").Header.Get("HX-Trigger"); !strings.Contains(got, `{"say":{"text":"Short link disabled.`) {
		t.Errorf("got part %q", got)
	}
}

func TestShortErrorsAreNextToTheirField(t *testing.T) {
	s := apptest.New(t)
	s.Shorten("https://example.com", "Spring")
	typed := url.Values{
		"long_url": {"https://example.com/new"}, "short_key": {"Summer"}, "title": {"kept <b>"}, "expires": {"at"}, "expires_at": {"2030-01-02T03:04"}, "max_visits": {"12"},
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
		{"expires", "-1h", "#expires-error"},
		{"expires", "soon", "#expires-error"},
		{"expires_at", "", "#expires-error"},
		{"expires_at", "tomorrow", "#expires-error"},
		{"expires_at", "2001-01-01T00:00", "#expires-error"},
		{"expires_at", "9999-01-01T00:00", "#expires-error"},
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
				continue // the field cannot be edited
			}
			a := s.Post(path, form)
			if a.StatusCode != http.StatusBadRequest && (c.value != "Spring" || a.StatusCode != http.StatusConflict) {
				t.Errorf("POST %s with %s=%q: got status %d", path, c.field, c.value, a.StatusCode)
			}
			if apptest.Text(a, c.message) == "" || strings.Contains(a.HTML, "<b>") {
				t.Errorf("POST %s with %s=%q: no message at %s", path, c.field, c.value, c.message)
			}
			for _, name := range []string{"long_url", "short_key", "title", "expires_at", "max_visits"} {
				if path != "/short" && name == "short_key" {
					continue
				}
				if got := a.Find("main input[name="+name+"]").AttrOr("value", ""); got != form.Get(name) {
					t.Errorf("POST %s with an invalid %s: got %s=%q in the form", path, c.field, name, got)
				}
			}
			if c.field != "expires" {
				apptest.WantCount(t, a, `option[value="at"][selected]`, 1)
			}
			if path != "/short" {
				apptest.WantCount(t, a, "details#edit[open]", 1)
			}
		}
	}
	apptest.WantCount(t, s.Get("/short"), ".short-links tbody tr", 1)
}

func TestShortFilters(t *testing.T) {
	s := apptest.New(t)
	s.Shorten("https://alpha.example/a", "Alpha", func(n *shortlinks.New) { n.Title = "The first" })
	s.Shorten("https://beta.example/b", "Beta", func(n *shortlinks.New) { n.TTL = time.Hour })
	s.Shorten("https://beta.example/c", "Gamma")
	s.Follow("/short/Gamma/disabled", url.Values{"disabled": {"true"}})
	s.Clock.Advance(time.Hour)
	for query, want := range map[string]string{
		"": "Gamma Beta Alpha", "status=active": "Alpha", "status=expired": "Beta", "status=disabled": "Gamma",
		"q=beta.example": "Gamma Beta", "q=FIRST": "Alpha", "q=amm": "Gamma", "q=beta&status=expired": "Beta", "q=%25": "",
	} {
		a := s.Get("/short?" + query)
		apptest.WantStatus(t, a, http.StatusOK)
		got := strings.Fields(strings.ReplaceAll(apptest.Text(a, ".short-links .title"), "127.0.0.1:8080/s/", ""))
		if strings.Join(got, " ") != want {
			t.Errorf("?%s: got %v, want %s", query, got, want)
		}
		if want == "" {
			apptest.WantText(t, a, ".empty", "No matching short links")
		}
	}
	a := s.Get("/short?status=expired&q=beta")
	if got := a.Find(".choices .disabled").AttrOr("href", ""); got != "/short?q=beta&status=disabled" {
		t.Errorf("got chip link %q", got)
	}
	apptest.WantText(t, a, "#count", "1 short link")
}

func TestShortByCursor(t *testing.T) {
	s := apptest.New(t)
	for i := range 103 {
		s.Shorten(fmt.Sprintf("https://example.com/%d", i), fmt.Sprintf("Key%d", i))
	}
	var seen []string
	path, pages := "/short", 0
	for path != "" {
		a := s.Get(path)
		seen = append(seen, strings.Fields(strings.ReplaceAll(apptest.Text(a, ".short-links .title"), "127.0.0.1:8080/s/", ""))...)
		pages++
		path = a.Find("a[rel=next]").AttrOr("href", "")
		if pages > 1 {
			apptest.WantCount(t, a, `a[rel=prev][href="/short"]`, 1)
			apptest.WantText(t, a, "#count", "Older short links")
		} else {
			apptest.WantText(t, a, "#count", "The newest 50")
		}
	}
	all := map[string]bool{}
	for _, key := range seen {
		all[key] = true
	}
	if len(seen) != 103 || len(all) != 103 || pages != 3 || seen[0] != "Key102" || seen[102] != "Key0" {
		t.Errorf("got %d short links on %d pages: %v", len(seen), pages, seen)
	}
}

func TestShortConstantNumberOfQueries(t *testing.T) {
	s := apptest.New(t)
	l := s.Save("https://example.com/first")
	s.Shorten("https://example.com/first", "First")
	add := func(n int) {
		for i := range n {
			key := fmt.Sprintf("Key%d-%d", n, i)
			s.Shorten("https://example.com/"+key, key)
			visit(s, key, 1, somebody)
		}
		visit(s, "First", n, somebody)
	}
	paths := []string{"/", "/short", "/short?q=example", "/short?status=active", "/short?status=expired", "/short/First", "/short/First?days=400", "/links/" + l.ID}
	add(2)
	few := map[string]int64{}
	for _, p := range paths {
		few[p] = s.Count(p)
	}
	add(297)
	for _, p := range paths {
		if n := s.Count(p); n != few[p] || n == 0 {
			t.Errorf("%s: got %d queries with 3 short links, %d with 300", p, few[p], n)
		}
	}
}
