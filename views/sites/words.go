package sites

import (
	"fmt"
	"slices"
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
func indexedShare(c sites.Counts) string {
	if c.Total == 0 || neverVerified(c) {
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

func neverVerified(c sites.Counts) bool {
	return c.ByStatus[sites.Indexed]+c.ByStatus[sites.NotIndexed] == 0
}

func isReading(w sites.Website) bool {
	return w.SitemapsClaimedBy != "" || !w.SitemapsRequestedAt.IsZero()
}

// service is a search engine that a website uses.
type service struct {
	name  string
	state serviceState
	check string // how to find out whether it accepts submissions
}

type serviceState int

const (
	accepts serviceState = iota
	unknown              // it has not accepted a submission yet
	refuses
)

// servicesOf returns the search engines that a website uses, with their states.
func servicesOf(w sites.Website, c sites.Counts) (all []service) {
	if w.UsesIndexNow() {
		s := service{"IndexNow", accepts, "check the key file below"}
		switch {
		case w.IndexNowState.Error != "":
			s.state = refuses
		case w.IndexNowVerifiedAt.IsZero():
			s.state = unknown
		}
		all = append(all, s)
	}
	if w.UsesGoogle() {
		s := service{"Google through sitemaps", accepts, "test the credentials below"}
		if w.IndexingEnabled {
			s.name = "Google's Indexing API"
		}
		switch {
		case w.GoogleState().Error != "":
			s.state = refuses
		case w.GoogleAcceptedAt.IsZero() && c.ByStatus[sites.Indexed]+c.ByStatus[sites.NotIndexed] == 0:
			s.state = unknown
		}
		all = append(all, s)
	}
	return all
}

// siteStatus is the worst state of the parts of a website: its search engines, its sitemaps and its pages.
func siteStatus(w sites.Website, c sites.Counts, sitemapErrors int) string {
	all := servicesOf(w, c)
	has := func(state serviceState) bool {
		return slices.ContainsFunc(all, func(s service) bool { return s.state == state })
	}
	switch {
	case has(refuses) || w.GoogleState().Error != "":
		return "failed"
	case sitemapErrors > 0 || c.ByStatus[sites.Failed] > 0:
		return "has errors"
	case isReading(w):
		return "running"
	case len(all) == 0:
		return "pending"
	case has(unknown):
		return "not checked yet"
	}
	return "active"
}

// stateClass is the class of a status of siteStatus.
func stateClass(status string) string {
	switch status {
	case "has errors":
		return "suspect"
	case "not checked yet":
		return "pending"
	}
	return status
}

func siteIcon(status string) string {
	switch status {
	case "failed":
		return "dead"
	case "running":
		return "play"
	case "active", "ok":
		return "check"
	case "has errors":
		return "alert"
	}
	return "unchecked"
}

// siteState says to which search engines the pages of a website are submitted, and why not to others.
func siteState(w sites.Website, c sites.Counts) string {
	all := servicesOf(w, c)
	named := func(state serviceState) (names []string) {
		for _, s := range all {
			if s.state == state {
				names = append(names, s.name)
			}
		}
		return names
	}
	var text []string
	switch to := named(accepts); {
	case len(all) == 0 && w.GoogleState().Error != "":
		text = append(text, "Google refuses requests for this website.")
	case len(all) == 0:
		text = append(text, "Nothing is submitted yet. Add Google credentials or an IndexNow key below.")
	case !w.AutoSubmit:
		text = append(text, "Automatic submission is off. Pages are submitted only on request.")
	case len(to) > 0:
		text = append(text, "New and changed pages are submitted to "+strings.Join(to, " and to ")+".")
	}
	if to := named(refuses); len(to) > 0 {
		text = append(text, "Submission to "+strings.Join(to, " and to ")+" does not work until the error below is fixed.")
	}
	for _, s := range all {
		if s.state == unknown {
			text = append(text, "It is not known yet whether "+s.name+" accepts submissions: "+s.check+".")
		}
	}
	return strings.Join(text, " ")
}

// refusal says what is wrong with a service, with a name that tells a missing key file from a refusal.
func refusal(w sites.Website, r sites.Refusal) string {
	if r.Name == "IndexNow" && w.KeyMissing() {
		return "IndexNow key file: " + r.Error
	}
	return r.Name + ": " + ui.Sentence(r.Error)
}

// countSentence summarizes the pages of a website: "3 of 5 pages indexed.", or "5 pages." if none was ever verified.
func countSentence(c sites.Counts) string {
	if c.Total == 0 {
		return "No pages yet."
	}
	s := ui.Plural(c.Total, "page") + "."
	if !neverVerified(c) {
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
	case sites.ProblemIndexNow:
		return "IndexNow errors"
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
