package sites

import (
	"fmt"
	"strings"

	"linkwatch/models/sites"
	"linkwatch/views/ui"
)

// pageWords are the statuses of pages in words.
var pageWords = map[sites.Status]string{
	sites.Pending: "pending", sites.Submitted: "submitted", sites.Indexed: "indexed", sites.NotIndexed: "not indexed", sites.Failed: "failed",
}

// pageIcon is the shape of the status of a page.
func pageIcon(s sites.Status) string {
	switch s {
	case sites.Submitted:
		return "moved"
	case sites.Indexed:
		return "check"
	case sites.NotIndexed:
		return "blocked"
	case sites.Failed:
		return "dead"
	case sites.Pending:
	}
	return "unchecked"
}

// property is a property as people read it: "example.com/blog/", "example.com and its
// subdomains".
func property(w sites.Website) string {
	p := w.Property()
	if p.Domain() {
		return p.Host() + " and its subdomains"
	}
	_, rest, _ := strings.Cut(p.SiteURL, "://")
	if path := strings.TrimSuffix(rest, "/"); !strings.Contains(path, "/") {
		return path
	}
	return rest
}

// propertyKind says which kind of property a website is in Search Console.
func propertyKind(w sites.Website) string {
	if w.Property().Domain() {
		return "domain"
	}
	return "URL prefix"
}

// indexedShare is how much of a website Google has indexed: "82%"; "–" = it has no pages, or
// Google was never asked.
func indexedShare(w sites.Website, c sites.Counts) string {
	if c.Total == 0 || unasked(w, c) {
		return "–"
	}
	n := c.ByStatus[sites.Indexed]
	share := 100 * n / c.Total
	switch {
	case share == 0 && n > 0:
		return "< 1%"
	case share == 100 && n < c.Total:
		return "99%"
	}
	return fmt.Sprintf("%d%%", share)
}

// unasked reports whether Google was never asked what it has indexed.
func unasked(w sites.Website, c sites.Counts) bool {
	return !w.Google() && c.ByStatus[sites.Indexed]+c.ByStatus[sites.NotIndexed] == 0
}

// reading reports whether the sitemaps of a website are being read, or will be within
// moments.
func reading(w sites.Website) bool { return w.SitemapsBy != "" || !w.SitemapsWantedAt.IsZero() }

// siteStatus is the status of a website in one word, by which its mark is drawn.
func siteStatus(w sites.Website) string {
	switch {
	case w.GoogleState().Error != "":
		return "failed"
	case reading(w):
		return "running"
	case !w.Google() && !w.IndexNow():
		return "pending"
	}
	return "active"
}

func siteIcon(status string) string {
	switch status {
	case "failed":
		return "dead"
	case "running":
		return "play"
	case "active", "ok":
		return "check"
	}
	return "unchecked"
}

// siteState says how a website is submitted, or why it is not.
func siteState(w sites.Website) string {
	switch {
	case w.GoogleState().Error != "":
		return "Google takes no requests for this website now."
	case !w.Google() && !w.IndexNow():
		return "Nothing is submitted yet. Add Google credentials or an IndexNow key below."
	case !w.AutoSubmit:
		return "Pages are submitted only when you ask for it: automatic submission is off."
	}
	var by []string
	switch {
	case w.Google() && w.IndexingEnabled:
		by = append(by, "Google's Indexing API")
	case w.Google():
		by = append(by, "sitemap to Google")
	}
	if w.IndexNow() {
		by = append(by, "IndexNow")
	}
	return "New and changed pages are submitted by " + strings.Join(by, " and by ") + "."
}

// counted is a sentence with how many pages a website has: "3 of 5 pages are indexed.", or
// "5 pages." if Google was never asked.
func counted(w sites.Website, c sites.Counts) string {
	if c.Total == 0 {
		return "No pages yet."
	}
	verb := "are"
	if c.Total == 1 || c.ByStatus[sites.Indexed] == 1 {
		verb = "is"
	}
	s := ui.Plural(c.Total, "page") + "."
	if !unasked(w, c) {
		s = fmt.Sprintf("%s of %s %s indexed.", ui.Count(c.ByStatus[sites.Indexed]), ui.Plural(c.Total, "page"), verb)
	}
	switch n := c.ByStatus[sites.Pending]; n {
	case 0:
	case 1:
		s += " 1 waits."
	default:
		s += " " + ui.Count(n) + " wait."
	}
	return s
}

// troubleText is what a list of websites says of a filter by trouble.
func troubleText(t sites.Trouble) string {
	switch t {
	case sites.GoogleRefuses:
		return "refused by Google"
	case sites.PagesFailed:
		return "pages failed"
	case sites.SitemapsUnread:
	}
	return "sitemaps unreadable"
}

// kindWord is the format of a sitemap in words.
func kindWord(m sites.Sitemap) string {
	switch m.Kind {
	case sites.KindSitemap:
		return "XML"
	case sites.KindIndex:
		return "index"
	case sites.KindText:
		return "text"
	case sites.KindFeed:
		return "feed"
	case sites.KindUnread:
	}
	return "–"
}

// originWord says who named a sitemap; "" = a user, or the index above it.
func originWord(m sites.Sitemap) string {
	if m.Origin == sites.FromRobots {
		return "named by robots.txt"
	}
	return ""
}

// holds is how many pages, or sitemaps, a sitemap has.
func holds(m sites.Sitemap) string {
	switch m.Kind {
	case sites.KindUnread:
		return "–"
	case sites.KindIndex:
		return ui.Plural(m.Pages, "sitemap")
	case sites.KindSitemap, sites.KindText, sites.KindFeed:
	}
	return ui.Plural(m.Pages, "page")
}

// reasons are the first reasons why entries of a sitemap were skipped.
func reasons(m sites.Sitemap) []string {
	if m.SkippedWhy == "" {
		return nil
	}
	return strings.Split(m.SkippedWhy, "\n")
}

// checkStatus is the status of a part of a test, by which its mark is drawn.
func checkStatus(c Check) string {
	if c.OK {
		return "ok"
	}
	return "failed"
}
