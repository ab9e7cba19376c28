package sites

import (
	"testing"

	"linkwatch/models/sites"
)

func TestIndexedShare(t *testing.T) {
	for _, c := range []struct {
		indexed, total int
		want           string
	}{{0, 0, "–"}, {0, 5, "–"}, {1, 1000, "< 1%"}, {999, 1000, "99%"}, {5, 5, "100%"}, {1, 3, "33%"}} {
		got := indexedShare(sites.Counts{ByStatus: map[sites.Status]int{sites.Indexed: c.indexed}, Total: c.total})
		if got != c.want {
			t.Errorf("%d of %d is %s, want %s", c.indexed, c.total, got, c.want)
		}
	}
	if got := indexedShare(sites.Counts{ByStatus: map[sites.Status]int{sites.Submitted: 5}, Total: 5}); got != "–" {
		t.Errorf("never verified: got %s, want –", got)
	}
}

func TestCounted(t *testing.T) {
	for want, c := range map[string]sites.Counts{
		"No pages yet.":                              {},
		"1 page. 1 not yet submitted.":               {Total: 1, ByStatus: map[sites.Status]int{sites.Pending: 1}},
		"0 of 2 pages indexed. 1 not yet submitted.": {Total: 2, ByStatus: map[sites.Status]int{sites.Pending: 1, sites.NotIndexed: 1}},
		"2 of 5 pages indexed. 3 not yet submitted.": {Total: 5, ByStatus: map[sites.Status]int{sites.Pending: 3, sites.Indexed: 2}},
		"1 of 5 pages indexed. 1 not yet submitted.": {Total: 5, ByStatus: map[sites.Status]int{sites.Pending: 1, sites.Indexed: 1}},
		"1 of 1 page indexed.":                       {Total: 1, ByStatus: map[sites.Status]int{sites.Indexed: 1}},
	} {
		if got := countSentence(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := countSentence(sites.Counts{Total: 5, ByStatus: map[sites.Status]int{sites.Pending: 3}}); got != "5 pages. 3 not yet submitted." {
		t.Errorf("never verified: %q", got)
	}
}

func TestProperty(t *testing.T) {
	for siteURL, want := range map[string]string{
		"https://example.com/": "example.com", "https://example.com/blog/": "example.com/blog/", "sc-domain:example.com": "example.com and its subdomains",
	} {
		if got := property(sites.Website{SiteURL: siteURL}); got != want {
			t.Errorf("%s is %q, want %q", siteURL, got, want)
		}
	}
}

func TestKindsOfSitemaps(t *testing.T) {
	for kind, want := range map[sites.Kind][2]string{
		sites.KindUnread: {"–", "–"}, sites.KindSitemap: {"XML", "2 pages"}, sites.KindIndex: {"index", "2 sitemaps"},
		sites.KindText: {"text", "2 pages"}, sites.KindFeed: {"feed", "2 pages"},
	} {
		m := sites.Sitemap{Kind: kind, Pages: 2}
		if got := [2]string{kindLabel(m), sitemapContent(m)}; got != want {
			t.Errorf("%q: %v, want %v", kind, got, want)
		}
	}
}
