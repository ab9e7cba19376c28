package sites

import (
	"cmp"
	"net/url"
	"strconv"

	"linkwatch/models"
	"linkwatch/models/sites"
	"linkwatch/views/ui"
)

// Unindexed is the list of the pages of a website that are not indexed, with the reasons.
type Unindexed struct {
	ui.Page
	Place  UnindexedPlace
	Query  string // error of the search; "" = none
	Site   sites.Website
	Counts sites.Counts
	List   models.Slice[sites.Page]
	Rows   []Diagnosed // of List.Items
}

// Diagnosed is a page with its evidence and findings.
type Diagnosed struct {
	Page     sites.Page
	Evidence sites.Evidence
	Findings []sites.Finding
}

// UnindexedPlace identifies one page of the list.
type UnindexedPlace struct {
	SiteID      string
	Cause, Text string
	Token       string // page token; "" = first page
}

// Filter returns the filter of the store.
func (p UnindexedPlace) Filter() sites.Filter {
	return sites.Filter{Unindexed: true, Cause: p.Cause, Match: p.Text}
}

// Path returns the URL of the page.
func (p UnindexedPlace) Path() string { return ui.WithQuery(unindexedPath(p.SiteID), p.query(p.Token)) }

func (p UnindexedPlace) csvPath() string {
	return ui.WithQuery(unindexedPath(p.SiteID)+".csv", p.query(""))
}

func (p UnindexedPlace) query(token string) url.Values {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{"cause": p.Cause, "q": p.Text, "page_token": token})
	return q
}

func (p UnindexedPlace) withCause(cause string) UnindexedPlace {
	p.Cause, p.Token = cause, ""
	return p
}
func (p UnindexedPlace) after(c models.Cursor) UnindexedPlace { p.Token = c.Token(); return p }

// Crawl describes what the last crawl saw; "" = the page was not crawled.
func (d Diagnosed) Crawl() string {
	c := d.Evidence.Crawled
	if c == nil {
		return ""
	}
	text := "not fetched"
	switch {
	case c.StatusCode != 0:
		text = "status " + strconv.Itoa(c.StatusCode)
	case c.Error != "":
		text = c.Error
	}
	if c.Redirects {
		text += ", redirects"
	}
	if c.NoIndex {
		text += ", noindex"
	}
	if c.Robots {
		text += ", robots.txt disallows it"
	}
	if c.OtherCanonical {
		text += ", canonical " + cmp.Or(c.Canonical, "of another page")
	}
	if c.Words >= 0 {
		text += ", " + ui.Plural(c.Words, "word")
	}
	return text
}

// Checks describes the last check of the target, or the last recheck of the saved link; "" = neither exists.
func (d Diagnosed) Checks() string {
	if t := d.Evidence.Checked; t != nil {
		text := string(t.Status)
		if t.StatusCode != 0 {
			text += ", status " + strconv.Itoa(t.StatusCode)
		}
		if t.Error != "" {
			text += ", " + t.Error
		}
		return text
	}
	if l := d.Evidence.Saved; l != nil {
		text := "link " + l.Health
		if l.StatusCode != 0 {
			text += ", status " + strconv.Itoa(l.StatusCode)
		}
		if l.MovedTo != "" {
			text += ", moved to " + l.MovedTo
		}
		return text
	}
	return ""
}

// noneTitle is the title of the empty list. Pages that were never verified may not be indexed.
func (v Unindexed) noneTitle() string {
	verified, pages := v.Counts.ByStatus[sites.Indexed], v.Counts.Total
	switch {
	case verified == 0:
		return "No page is verified yet"
	case verified < pages:
		return "No unindexed pages among the " + ui.Count(verified) + " verified ones of " + ui.Count(pages)
	}
	return "No unindexed pages"
}
