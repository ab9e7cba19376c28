package views

import (
	"net/url"
	"strings"
	"testing"

	"linkwatch/models/links"
)

func TestExplain(t *testing.T) {
	for want, l := range map[string]links.Link{
		"The page answers.": {Health: links.OK, LastStatusCode: 200},
		"Could not be reached: host not found, 2 days in a row. After 3 it counts as dead.": {
			Health: links.Suspect, LastError: "host not found", Failures: 2},
		"Could not be reached: the site answered 503, 1 day in a row. After 3 it counts as dead.": {
			Health: links.Suspect, LastError: "unexpected status 503", LastStatusCode: 503, Failures: 1},
		"Could not be reached: timed out, 3 days in a row.": {Health: links.Dead, LastError: "timed out", Failures: 3},
		"The page is gone: the site answered 410.":          {Health: links.Dead, LastError: "unexpected status 410", LastStatusCode: 410},
		"The site keeps programs out (it answered 403). It may open in your browser; it is never expired for this.": {
			Health: links.Blocked, LastStatusCode: 403},
	} {
		if got := explain(l); got != want {
			t.Errorf("%s: %q, want %q", l.Health, got, want)
		}
	}
	for _, h := range links.Healths {
		if explain(links.Link{Health: h}) == "" || healthIcon(h) == "" {
			t.Errorf("%s has no words or no shape", h)
		}
	}
}

func TestSchedulePhrase(t *testing.T) {
	for schedule, want := range map[string]string{
		"@every 1m": "every minute", "@every 1h": "every hour", "@every 15m": "every 15 minutes", "@every 90s": "every 90 seconds",
		"@every 24h": "every day", "@every 1500ms": "every 1.5s", "5 4 * * *": "5 4 * * *", "@every soon": "@every soon",
	} {
		if got := schedulePhrase(schedule); got != want {
			t.Errorf("%s: %q, want %q", schedule, got, want)
		}
	}
}

// A browser undoes the escapes of a javascript: address before it runs it.
func TestBookmarklet(t *testing.T) {
	for base, want := range map[string]string{
		"http://127.0.0.1:8080": `javascript:window.open("http://127.0.0.1:8080/links?url="+encodeURIComponent(location.href))`,
		`http://a%22'"`:         `javascript:window.open("http://a%22'\"/links?url="+encodeURIComponent(location.href))`,
	} {
		address := bookmarklet(base)
		got, err := url.PathUnescape(address)
		if err != nil || got != want || strings.ContainsAny(address, `"'<> `) {
			t.Errorf("%s: the browser would run %s (%v)", address, got, err)
		}
	}
}

func TestPlacePath(t *testing.T) {
	all := Place{Filter: links.Filter{Query: "a&b", Tag: "c#", Health: links.Dead, Shown: links.ShowAll}, Page: 3}
	for want, p := range map[string]Place{
		"/links":              {Page: 1},
		"/links?sort=popular": {Popular: true},
		"/links?expired=all&health=dead&page=3&q=a%26b&tag=c%23":  all,
		"/links?expired=all&health=moved&q=a%26b&tag=c%23":        all.withHealth(links.Moved),
		"/links?health=dead&q=a%26b&tag=c%23":                     all.withShown(links.ShowActive),
		"/links?expired=all&health=dead&q=a%26b":                  all.withoutTag(),
		"/links?expired=all&health=dead&page=12&q=a%26b&tag=c%23": all.withPage(12),
	} {
		if got := p.Path(); got != want {
			t.Errorf("path %q, want %q", got, want)
		}
	}
}
