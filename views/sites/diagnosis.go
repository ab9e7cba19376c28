package sites

import (
	"cmp"
	"net/url"
	"strconv"

	"linkwatch/models"
	"linkwatch/models/sites"
	"linkwatch/views/ui"
)

// Unindexed is the list of a website's pages that are not indexed, with the reasons.
type Unindexed struct {
	ui.Page
	Place  UnindexedPlace
	Query  string // what is wrong with the search, else ""
	Site   sites.Website
	Counts sites.Counts
	List   models.Slice[sites.Page]
	Rows   []Diagnosed // of List.Items
}

// Diagnosed is a page with what is known of it.
type Diagnosed struct {
	Page     sites.Page
	Known    sites.Known
	Findings []sites.Finding
}

// UnindexedPlace is a page of the list.
type UnindexedPlace struct {
	SiteID      string
	Cause, Text string
	Token       string // of the page; "" = the first
}

// Filter is that of the store.
func (p UnindexedPlace) Filter() sites.Filter {
	return sites.Filter{Unindexed: true, Cause: p.Cause, Match: p.Text}
}

// Path is the address of the page.
func (p UnindexedPlace) Path() string { return ui.WithQuery(unindexedPath(p.SiteID), p.query(p.Token)) }

// csvPath is the address of the whole list as CSV.
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

// Crawl says in words what the last crawl of a page saw; "" = it was not crawled.
func (d Diagnosed) Crawl() string {
	c := d.Known.Crawled
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

// Checks says in words what checks, or rechecks of the saved link, see; "" = there are none.
func (d Diagnosed) Checks() string {
	if t := d.Known.Checked; t != nil {
		text := string(t.Status)
		if t.StatusCode != 0 {
			text += ", status " + strconv.Itoa(t.StatusCode)
		}
		if t.Error != "" {
			text += ", " + t.Error
		}
		return text
	}
	if l := d.Known.Saved; l != nil {
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
