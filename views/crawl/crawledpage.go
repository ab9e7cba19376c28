package crawl

import (
	"net/url"
	"strconv"

	"github.com/a-h/templ"

	"linkwatch/models/crawl"
	"linkwatch/models/crawl/textdiff"
	"linkwatch/views/ui"
)

// CrawledPage is the page of one crawled page.
type CrawledPage struct {
	ui.Page
	Crawled  crawl.Page
	Source   crawl.Source
	Text     []string // its lines
	Versions []crawl.Version
	Copies   []crawl.Copy
	Archives bool // copies of pages are archived
	Kept     Kept
	Aside    []templ.Component // of other systems: sections below the facts
}

// maxShown is how many lines of a text the page shows.
const maxShown = 2000

func (v CrawledPage) shown() []string { return v.Text[:min(len(v.Text), maxShown)] }

// comparable reports whether a version has one before it to compare it with.
func (v CrawledPage) comparable(i int) bool {
	if v.Versions[i].Change == crawl.PageGone {
		return false
	}
	for _, older := range v.Versions[i+1:] {
		if older.Change != crawl.PageGone {
			return true
		}
	}
	return false
}

// copyPath is the address of an archived copy.
func (v CrawledPage) copyPath(c crawl.Copy) string {
	return PagePath(v.Crawled.ID()) + "/archive/" + c.Hash.String()
}

// PageDiff is the page that compares two versions of a crawled page.
type PageDiff struct {
	ui.Page
	Crawled  crawl.Page
	Versions []crawl.Version
	From, To crawl.Version // From is the zero one if there is none before To
	Diff     textdiff.Diff
	All      bool // lines that are the same are all shown
}

// DiffPath is the address of a comparison; 0 means the usual version.
func DiffPath(id string, from, to int, all bool) string {
	q := url.Values{}
	for name, n := range map[string]int{"from": from, "to": to} {
		if n != 0 {
			q.Set(name, strconv.Itoa(n))
		}
	}
	if all {
		q.Set("all", "1")
	}
	return ui.WithQuery(PagePath(id)+"/changes", q)
}

// withText are the versions that can be compared.
func (v PageDiff) withText() (all []crawl.Version) {
	for _, ver := range v.Versions {
		if ver.Change != crawl.PageGone {
			all = append(all, ver)
		}
	}
	return all
}

// context is how many lines that are the same are shown around others.
const context = 2

// part is some rows of a comparison, or a number of rows that are left out.
type part struct {
	rows    []textdiff.Row
	skipped int
}

// parts are the rows that are shown.
func (v PageDiff) parts() (parts []part) {
	rows := v.Diff.Rows
	if v.All {
		return []part{{rows: rows}}
	}
	keep := make([]bool, len(rows))
	for i, r := range rows {
		if r.Kind != textdiff.Same {
			for j := max(0, i-context); j <= min(len(rows)-1, i+context); j++ {
				keep[j] = true
			}
		}
	}
	for i := 0; i < len(rows); {
		end := i
		for end < len(rows) && keep[end] == keep[i] {
			end++
		}
		if keep[i] {
			parts = append(parts, part{rows: rows[i:end]})
		} else {
			parts = append(parts, part{skipped: end - i})
		}
		i = end
	}
	return parts
}

// changeWord says what a version is, on its own.
func changeWord(c crawl.Change) string {
	switch c {
	case crawl.PageNew:
		return "first seen"
	case crawl.PageChanged:
		return "changed"
	case crawl.PageGone:
		return "gone"
	case crawl.PageBack:
		return "back"
	}
	return string(c)
}

// waitVerb is "waits" or "wait".
func waitVerb(n int) string {
	if n == 1 {
		return "waits"
	}
	return "wait"
}
