package sites_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"linkwatch/app/apptest"
	"linkwatch/models"
	"linkwatch/models/sites"
)

func TestUnindexedPage(t *testing.T) {
	q := newQueue(t)
	apptest.WantText(t, q.Get(q.at("/not-indexed")), ".empty a", "Google credentials")
	q = filled(t)
	q.verified("/new", sites.CauseUnknownToGoogle, sites.Inspection{CoverageState: "URL is unknown to Google"}) // no verdict: still pending
	now := q.Sites.Now()
	q.Other.known["https://example.com/no"] = sites.Evidence{
		Crawled: &sites.Crawled{
			FetchedAt: now, StatusCode: 200, NoIndex: true, Robots: true, OtherCanonical: true, Canonical: "https://example.com/" + injected, Words: 3, Redirects: true, Link: "/crawl/pages/p_1",
		},
		Checked: &sites.Checked{Status: sites.CheckUp, StatusCode: 200, CheckedAt: now, Link: "/watch/t_1"},
	}
	q.Other.known["https://example.com/refused"] = sites.Evidence{
		Crawled: &sites.Crawled{Error: "timed out", Words: -1, FetchedAt: now}, Saved: &sites.Saved{Health: "moved", StatusCode: 301, MovedTo: "https://example.com/x", CheckedAt: now, Link: "/links/l_1"},
	}
	a := q.Get(q.at("/not-indexed"))
	if got := shownPaths(a); got != "/new /refused /no" {
		t.Errorf("got pages %s", got)
	}
	apptest.WantCount(t, a, "main script, main img", 0)
	apptest.WantText(t, a, "tbody tr:nth-child(1)", "URL is unknown to Google verified just now not crawled not checked Google has never seen this URL.")
	apptest.WantText(t, a, "tbody tr:nth-child(2)", "failed not verified yet timed out")
	apptest.WantText(t, a, "tbody tr:nth-child(2)", "link moved, status 301, moved to https://example.com/x")
	apptest.WantText(t, a, "tbody tr:nth-child(3) [data-label=Google]", "Excluded by "+injected)
	apptest.WantText(t, a, "tbody tr:nth-child(3) [data-label=Crawl]", "status 200, redirects, noindex, robots.txt disallows it, canonical https://example.com/"+injected+", 3 words")
	apptest.WantText(t, a, "tbody tr:nth-child(3) [data-label=Checks]", "up, status 200")
	apptest.WantCount(t, a, `tbody tr:nth-child(3) a[href="/watch/t_1"], tbody tr:nth-child(3) a[href="/crawl/pages/p_1"]`, 2)
	apptest.WantText(t, a, "tbody tr:nth-child(3) [data-label=Reason]", "more reason")
	apptest.WantText(t, a, "nav[aria-label=Cause]", "Excluded by noindex 1")
	apptest.WantText(t, a, "nav[aria-label=Cause]", "Not an owner 1")
	a = q.Get(a.Find("nav[aria-label=Cause] a:contains('noindex')").AttrOr("href", ""))
	if got := shownPaths(a); got != "/no" {
		t.Errorf("pages with noindex: %s", got)
	}
	apptest.WantText(t, a, ".chip.on", "Excluded by noindex")
	if got := shownPaths(q.Get(q.at("/not-indexed?q=/n*"))); got != "/new /no" {
		t.Errorf("pages that match a pattern: %s", got)
	}
	apptest.WantText(t, q.Get(q.at("/not-indexed?cause=x")), ".empty", "No matching pages")
	apptest.WantStatus(t, q.Get(q.at("/not-indexed?cause="+strings.Repeat("a", 600))), http.StatusBadRequest)
	apptest.WantStatus(t, q.Get(q.at("/not-indexed?page_token=x")), http.StatusBadRequest)
	for _, path := range []string{"/not-indexed", "/not-indexed.csv"} {
		apptest.WantStatus(t, q.Get("/sites/"+models.NewID(models.KindWebsite)+path), http.StatusNotFound)
	}
	apptest.WantCount(t, q.Part(q.at("/not-indexed")), "nav[aria-label=Main]", 0)
}

func TestUnindexedPagesByToken(t *testing.T) {
	q := newQueue(t)
	var all []string
	for i := range 600 {
		all = append(all, fmt.Sprintf("/p%d", i))
	}
	q.read(q.site, 3, all...)
	q.verified("/p0", sites.CauseNoIndex, sites.Inspection{Verdict: "FAIL", CoverageState: "Excluded by 'noindex' tag"})
	few, calls := q.Count(q.at("/not-indexed")), q.Other.calls
	for i := range 600 {
		if i%3 != 0 {
			continue
		}
		q.set(all[i], "status = 'not_indexed', cause = 'noindex', last_error = '=cmd'")
	}
	for i := range 600 {
		if i%3 != 0 {
			q.set(all[i], "status = 'failed', cause = 'not_owner'")
		}
	}
	q.Other.calls = 0
	if many := q.Count(q.at("/not-indexed")); many != few || q.Other.calls != calls {
		t.Errorf("%d queries and %d calls for 100 pages, %d and %d for 1", many, q.Other.calls, few, calls)
	}
	seen, n := map[string]bool{}, 0
	for next := q.at("/not-indexed"); next != ""; n++ {
		a := q.Get(next)
		for _, path := range strings.Fields(shownPaths(a)) {
			seen[path] = true
		}
		next = a.Find("a[rel=next]").AttrOr("href", "")
	}
	if len(seen) != 600 || n != 6 {
		t.Errorf("%d pages on %d list pages", len(seen), n)
	}
	a := q.Get(q.at("/not-indexed.csv"))
	apptest.WantStatus(t, a, http.StatusOK)
	rows, err := csv.NewReader(strings.NewReader(a.HTML)).ReadAll()
	if err != nil || len(rows) != 601 || rows[0][0] != "url" || rows[1][0] != "https://example.com/p0" {
		t.Errorf("%d rows: %v", len(rows), err)
	}
	if len(rows) > 1 && rows[1][7] != "'=cmd" {
		t.Errorf("first row: %q", rows[1])
	}
	if got := a.Header.Get("Content-Disposition"); !strings.Contains(got, q.site.ID+"-not-indexed.csv") {
		t.Errorf("file name: %s", got)
	}
	rows, err = csv.NewReader(strings.NewReader(q.Get(q.at("/not-indexed.csv?cause=not_owner")).HTML)).ReadAll()
	if err != nil || len(rows) != 401 {
		t.Errorf("with a cause: %d rows: %v", len(rows), err)
	}
}
