package sites

import (
	"net/url"
	"strconv"
	"strings"

	"linkwatch/models"
	"linkwatch/models/sites"
	"linkwatch/views/ui"
)

// Submissions is the list of what search engines were told of a website.
type Submissions struct {
	ui.Page
	Place SubmissionsPlace
	Site  sites.Website
	List  models.Slice[sites.Submission]
}

// SubmissionsPlace is a page of the list.
type SubmissionsPlace struct {
	SiteID string
	Token  string // of the page; "" = the first
}

// Path is the address of the page.
func (p SubmissionsPlace) Path() string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{"page_token": p.Token})
	return ui.WithQuery(submissionsPath(p.SiteID), q)
}

func (p SubmissionsPlace) after(c models.Cursor) SubmissionsPlace { p.Token = c.Token(); return p }

// methods are the ways to submit, in words.
var methods = map[sites.Method]string{
	sites.ByIndexingAPI: "Indexing API", sites.BySitemap: "Search Console", sites.ByIndexNow: "IndexNow",
}

// actions are what search engines are told, in words.
var actions = map[sites.Action]string{sites.Updated: "updated", sites.Deleted: "removed"}

// answer says what became of a submission.
func answer(s sites.Submission) string {
	code := ""
	if s.StatusCode != 0 {
		code = " (" + strconv.Itoa(s.StatusCode) + ")"
	}
	switch s.Status {
	case sites.Accepted:
		return "Accepted" + code
	case sites.Refused:
		return "Refused" + code
	case sites.Retried:
		return "Failed" + code
	case sites.Sent:
	}
	return "No answer yet"
}

// what names what was submitted, if it is not one page.
func what(s sites.Submission) string {
	switch {
	case s.Method == sites.BySitemap:
		return "Sitemap " + where(s.URL)
	case s.URL != "":
		return where(s.URL)
	}
	return ui.Plural(s.Pages, "page")
}

// where is a URL without its scheme and host: "/a".
func where(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return address
}
