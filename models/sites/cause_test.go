package sites_test

import (
	"strings"
	"testing"

	"linkwatch/models/sites"
)

// knownStates are the coverage states of Search Console with what they mean, those that it no longer uses included.
var knownStates = map[string]sites.Status{
	"Submitted and indexed":                  sites.Indexed,
	"Indexed, not submitted in sitemap":      sites.Indexed,
	"Indexed; consider marking as canonical": sites.Indexed,
	"Indexed, though blocked by robots.txt":  sites.Indexed,
	"Page indexed without content":           sites.Indexed,
	"Indexed without content":                sites.Indexed,

	"Crawled - currently not indexed":                       sites.NotIndexed,
	"Discovered - currently not indexed":                    sites.NotIndexed,
	"URL is unknown to Google":                              sites.NotIndexed,
	"Duplicate without user-selected canonical":             sites.NotIndexed,
	"Duplicate, Google chose different canonical than user": sites.NotIndexed,
	"Duplicate, submitted URL not selected as canonical":    sites.NotIndexed,
	"Alternate page with proper canonical tag":              sites.NotIndexed,
	"Excluded by ‘noindex’ tag":                             sites.NotIndexed,
	"Blocked by robots.txt":                                 sites.NotIndexed,
	"Blocked due to unauthorized request (401)":             sites.NotIndexed,
	"Blocked due to access forbidden (403)":                 sites.NotIndexed,
	"Blocked due to other 4xx issue":                        sites.NotIndexed,
	"Not found (404)":                                       sites.NotIndexed,
	"Soft 404":                                              sites.NotIndexed,
	"Server error (5xx)":                                    sites.NotIndexed,
	"Page with redirect":                                    sites.NotIndexed,
	"Redirect error":                                        sites.NotIndexed,
	"Blocked by page removal tool":                          sites.NotIndexed,
	"Page removed because of legal complaint":               sites.NotIndexed,
	"Crawl anomaly":                                         sites.NotIndexed,
	"Queued for crawling":                                   sites.NotIndexed,
	"Duplicate page without canonical tag":                  sites.NotIndexed,
	"Duplicate non-HTML page":                               sites.NotIndexed,
	"Google chose different canonical than user":            sites.NotIndexed,
	"Submitted URL not selected as canonical":               sites.NotIndexed,
	"Submitted URL dropped":                                 sites.NotIndexed,
	"Submitted URL marked ‘noindex’":                        sites.NotIndexed,
	"Submitted URL blocked by robots.txt":                   sites.NotIndexed,
	"Submitted URL not found (404)":                         sites.NotIndexed,
	"Submitted URL seems to be a Soft 404":                  sites.NotIndexed,
	"Submitted URL returns unauthorized request (401)":      sites.NotIndexed,
	"Submitted URL returned 403":                            sites.NotIndexed,
	"Submitted URL blocked due to other 4xx issue":          sites.NotIndexed,
	"Submitted URL has crawl issue":                         sites.NotIndexed,
}

var verdicts = []string{"PASS", "PARTIAL", "FAIL", "NEUTRAL", "VERDICT_UNSPECIFIED", ""}

// The coverage state decides, whatever the verdict. Letter case, quotes, dashes and spaces do not matter.
func TestCoverageStates(t *testing.T) {
	for state, want := range knownStates {
		for _, written := range []string{
			state, strings.ToUpper(state), strings.ToLower(state), " " + strings.ReplaceAll(state, " ", "\u00a0") + ".",
			strings.NewReplacer("-", "–", "‘", "'", "’", "'", ",", " -").Replace(state), strings.NewReplacer("-", "—", "‘", "“", "’", "”").Replace(state),
		} {
			for _, verdict := range verdicts {
				i := sites.Inspection{Verdict: verdict, CoverageState: written}
				if got := i.Status(); got != want {
					t.Errorf("%s %q: got %q, want %q", verdict, written, got, want)
				}
				cause := sites.CauseOf(i)
				if _, known := causeOfSlug(cause); cause != "" && !known || cause == "" && want != sites.Indexed {
					t.Errorf("%s %q: got cause %q", verdict, written, cause)
				}
			}
		}
	}
}

func causeOfSlug(slug string) (c sites.Cause, known bool) {
	for _, c := range sites.Causes {
		if c.Slug == slug {
			return c, true
		}
	}
	return c, false
}

// An unknown state has no status, unless Google says that the page passed.
func TestUnknownCoverageStates(t *testing.T) {
	for _, state := range []string{"", "Indexed, with a new warning", "Not indexed for a new reason", "Submitted", "索引未登録", "\xff"} {
		for _, verdict := range verdicts {
			want := sites.Status("")
			if verdict == "PASS" {
				want = sites.Indexed
			}
			i := sites.Inspection{Verdict: verdict, CoverageState: state, IndexingState: "BLOCKED_BY_META_TAG", FetchState: "NOT_FOUND"}
			if got := i.Status(); got != want {
				t.Errorf("%s %q: got %q, want %q", verdict, state, got, want)
			}
		}
	}
}
