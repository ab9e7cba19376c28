package sites

import (
	"fmt"
	"strings"

	"linkwatch/models/sites"
	"linkwatch/views/ui"
)

var pageWords = map[sites.Status]string{
	sites.Pending: "pending", sites.Submitted: "submitted", sites.Indexed: "indexed", sites.NotIndexed: "not indexed", sites.Failed: "failed",
}

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

// property is the readable form of a property: "example.com/blog/" or "example.com and its subdomains".
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

func propertyKind(w sites.Website) string {
	if w.Property().Domain() {
		return "domain"
	}
	return "URL prefix"
}

// indexedShare is the share of indexed pages, such as "82%". It is "–" without pages, or if no page was ever verified.
func indexedShare(w sites.Website, c sites.Counts) string {
	if c.Total == 0 || neverVerified(w, c) {
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

func neverVerified(w sites.Website, c sites.Counts) bool {
	return !w.UsesGoogle() && c.ByStatus[sites.Indexed]+c.ByStatus[sites.NotIndexed] == 0
}

func isReading(w sites.Website) bool {
	return w.SitemapsClaimedBy != "" || !w.SitemapsRequestedAt.IsZero()
}

func siteStatus(w sites.Website) string {
	switch {
	case w.GoogleState().Error != "":
		return "failed"
	case isReading(w):
		return "running"
	case !w.UsesGoogle() && !w.UsesIndexNow():
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

func siteState(w sites.Website) string {
	switch {
	case w.GoogleState().Error != "":
		return "Google refuses requests for this website."
	case !w.UsesGoogle() && !w.UsesIndexNow():
		return "Nothing is submitted yet. Add Google credentials or an IndexNow key below."
	case !w.AutoSubmit:
		return "Automatic submission is off. Pages are submitted only on request."
	}
	var to []string
	if w.UsesIndexNow() {
		to = append(to, "IndexNow")
	}
	switch {
	case w.UsesGoogle() && w.IndexingEnabled:
		to = append(to, "Google's Indexing API")
	case w.UsesGoogle():
		to = append(to, "Google through sitemaps")
	}
	return "New and changed pages are submitted to " + strings.Join(to, " and to ") + "."
}

// countSentence summarizes the pages of a website: "3 of 5 pages indexed.", or "5 pages." if none was ever verified.
func countSentence(w sites.Website, c sites.Counts) string {
	if c.Total == 0 {
		return "No pages yet."
	}
	s := ui.Plural(c.Total, "page") + "."
	if !neverVerified(w, c) {
		s = fmt.Sprintf("%s of %s indexed.", ui.Count(c.ByStatus[sites.Indexed]), ui.Plural(c.Total, "page"))
	}
	if n := c.ByStatus[sites.Pending]; n > 0 {
		s += " " + ui.Count(n) + " not yet submitted."
	}
	return s
}

func problemLabel(t sites.Problem) string {
	switch t {
	case sites.ProblemGoogle:
		return "Google errors"
	case sites.ProblemPages:
		return "failed pages"
	case sites.ProblemSitemaps:
	}
	return "sitemap errors"
}

func kindLabel(m sites.Sitemap) string {
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

// originLabel says that robots.txt lists the sitemap; "" = another origin.
func originLabel(m sites.Sitemap) string {
	if m.Origin == sites.FromRobots {
		return "listed in robots.txt"
	}
	return ""
}

func sitemapContent(m sites.Sitemap) string {
	switch m.Kind {
	case sites.KindUnread:
		return "–"
	case sites.KindIndex:
		return ui.Plural(m.Pages, "sitemap")
	case sites.KindSitemap, sites.KindText, sites.KindFeed:
	}
	return ui.Plural(m.Pages, "page")
}

func reasons(m sites.Sitemap) []string {
	if m.SkippedReasons == "" {
		return nil
	}
	return strings.Split(m.SkippedReasons, "\n")
}

func checkStatus(c Check) string {
	if c.OK {
		return "ok"
	}
	return "failed"
}
