package sites

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"linkwatch/models"
	"linkwatch/models/sites"
	"linkwatch/views/ui"
)

// Submissions is the list of the submissions of a website.
type Submissions struct {
	ui.Page
	Place SubmissionsPlace
	Site  sites.Website
	List  models.Slice[sites.Submission]
}

// SubmissionsPlace identifies one page of the list.
type SubmissionsPlace struct {
	SiteID string
	Token  string // page token; "" = first page
}

// Path returns the URL of the page.
func (p SubmissionsPlace) Path() string {
	q := url.Values{}
	ui.SetFilters(q, map[string]string{"page_token": p.Token})
	return ui.WithQuery(submissionsPath(p.SiteID), q)
}

func (p SubmissionsPlace) after(c models.Cursor) SubmissionsPlace { p.Token = c.Token(); return p }

var methods = map[sites.Method]string{
	sites.ByIndexingAPI: "Indexing API", sites.BySitemap: "Search Console", sites.ByIndexNow: "IndexNow",
}

var actions = map[sites.Action]string{sites.Updated: "updated", sites.Deleted: "removed"}

// responseText describes the result of a submission, such as "Accepted (200)".
func responseText(s sites.Submission) string {
	code := ""
	if s.StatusCode != 0 {
		code = " (" + strconv.Itoa(s.StatusCode) + ")"
	}
	switch s.Status {
	case sites.Accepted:
		if s.Method == sites.ByIndexNow && s.StatusCode == http.StatusAccepted {
			return "Received" + code + ". The key is not verified yet"
		}
		return "Accepted" + code
	case sites.Refused:
		return "Refused" + code
	case sites.Retried:
		return "Failed" + code
	case sites.Sent:
	}
	return "No response yet"
}

// submissionName names the submitted sitemap, page or batch.
func submissionName(s sites.Submission) string {
	switch {
	case s.Method == sites.BySitemap:
		return "Sitemap " + pathOf(s.URL)
	case s.URL != "":
		return pathOf(s.URL)
	}
	return ui.Plural(s.Pages, "page")
}

// pathOf is a URL without scheme and host, such as "/a".
func pathOf(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return address
}
