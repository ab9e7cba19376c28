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
	Crawled        crawl.Page
	Source         crawl.Source
	Text           []string // lines
	Versions       []crawl.Version
	Copies         []crawl.Copy
	ArchiveEnabled bool // copies of crawled pages are archived
	Saved          Saved
	Aside          []templ.Component // sections of other systems, below the facts
}

// maxLines is the number of lines of text that the page shows.
const maxLines = 2000

func (v CrawledPage) shownLines() []string { return v.Text[:min(len(v.Text), maxLines)] }

// hasOlderText reports whether there is an older version to compare version i with.
func (v CrawledPage) hasOlderText(i int) bool {
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

func (v CrawledPage) copyPath(c crawl.Copy) string {
	return PagePath(v.Crawled.ID()) + "/archive/" + c.Hash.String()
}

// PageDiff is the page that compares two versions of a crawled page.
type PageDiff struct {
	ui.Page
	Crawled  crawl.Page
	Versions []crawl.Version
	From, To crawl.Version // From is zero if To has no older version
	Diff     textdiff.Diff
	ShowAll  bool // unchanged lines are shown too
}

// DiffPath returns the path of a comparison. from 0 is the version before to, to 0 is the newest.
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

// versionsWithText returns the versions that can be compared.
func (v PageDiff) versionsWithText() (all []crawl.Version) {
	for _, ver := range v.Versions {
		if ver.Change != crawl.PageGone {
			all = append(all, ver)
		}
	}
	return all
}

// contextLines is the number of unchanged lines shown around changed ones.
const contextLines = 2

// hunk is a run of rows to show, or a number of rows to skip.
type hunk struct {
	rows    []textdiff.Row
	skipped int
}

// hunks returns what the page shows of the comparison.
func (v PageDiff) hunks() (parts []hunk) {
	rows := v.Diff.Rows
	if v.ShowAll {
		return []hunk{{rows: rows}}
	}
	keep := make([]bool, len(rows))
	for i, r := range rows {
		if r.Kind != textdiff.Same {
			for j := max(0, i-contextLines); j <= min(len(rows)-1, i+contextLines); j++ {
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
			parts = append(parts, hunk{rows: rows[i:end]})
		} else {
			parts = append(parts, hunk{skipped: end - i})
		}
		i = end
	}
	return parts
}

func changeLabel(c crawl.Change) string {
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
