package sites

import "strings"

// Cause is a reason why a page is not indexed, or was not submitted. Pages are grouped by its slug.
type Cause struct {
	Slug  string // stable: a-z, 0-9 and _, at most 60 bytes
	Label string
	Text  string // what is wrong, a short sentence
	Fix   string // what to do about it, a short sentence
}

// The slugs of causes.
const (
	// Of a page that is not indexed.
	CauseNoIndex         = "noindex"
	CauseRobots          = "robots"
	CauseIndexedBlocked  = "indexed_though_blocked"
	CauseNotFound        = "not_found"
	CauseSoft404         = "soft_404"
	CauseUnauthorized    = "unauthorized"
	CauseForbidden       = "forbidden"
	CauseClientError     = "client_error"
	CauseServerError     = "server_error"
	CauseUnreachable     = "unreachable"
	CauseRedirect        = "redirect"
	CauseRedirectError   = "redirect_error"
	CauseAlternate       = "alternate"
	CauseDuplicate       = "duplicate"
	CauseGoogleCanonical = "google_canonical"
	CauseCrawled         = "crawled_not_indexed"
	CauseDiscovered      = "discovered_not_indexed"
	CauseUnknownToGoogle = "unknown_to_google"
	CauseInvalidURL      = "invalid_url"
	CauseCrawlError      = "crawl_error"
	CauseNoContent       = "no_content"
	CauseRemoved         = "removed"
	CauseThin            = "thin"
	CauseUnlinked        = "unlinked"
	CauseOutsideSitemaps = "not_in_sitemap"
	CauseQueued          = "queued"
	CauseNeverSubmitted  = "never_submitted"
	CauseNeverVerified   = "never_verified"
	CauseNotIndexed      = "not_indexed" // Google does not say why
	// Of a submission that failed.
	CauseNotOwner        = "not_owner"
	CauseAPIDisabled     = "api_disabled"
	CauseCredentials     = "credentials"
	CauseRefused         = "refused"
	CauseRateLimited     = "rate_limited"
	CauseNoAnswer        = "no_answer"
	CauseOutsideProperty = "outside_property"
)

// Causes are all that are known, those of pages first.
var Causes = []Cause{
	{CauseNoIndex, "Excluded by noindex", "The page tells search engines not to index it.", "Remove noindex from the robots meta tag and the X-Robots-Tag header, then submit the page."},
	{CauseRobots, "Blocked by robots.txt", "robots.txt disallows the page.", "Allow the page in robots.txt, then submit it."},
	{CauseIndexedBlocked, "Indexed, though blocked by robots.txt", "Google indexed the page without reading it, because robots.txt disallows it.", "Allow the page in robots.txt. To remove it from search, add noindex as well."},
	{CauseNotFound, "Not found (404)", "The page does not exist: the server answers 404 or 410.", "Restore the page, or remove it from the sitemap."},
	{CauseSoft404, "Soft 404", "Google takes the page for an error page, although it answers 200.", "Add content to the page, or answer 404 if there is none."},
	{CauseUnauthorized, "Unauthorized (401)", "The page asks for a login.", "Let crawlers read the page without a login, or remove it from the sitemap."},
	{CauseForbidden, "Forbidden (403)", "The server refuses the crawler.", "Allow Googlebot in the firewall or bot protection."},
	{CauseClientError, "Other 4xx error", "The server answers with a 4xx error.", "Fix the error, then submit the page."},
	{CauseServerError, "Server error (5xx)", "The server fails to answer the request.", "Fix the server error, then submit the page."},
	{CauseUnreachable, "Unreachable", "The page could not be fetched.", "Check DNS, TLS and the server, then submit the page."},
	{CauseRedirect, "Page with redirect", "The page redirects to another URL.", "Put the destination into the sitemap in its place."},
	{CauseRedirectError, "Redirect error", "The redirects of the page do not end, or lead to an invalid URL.", "Redirect once, straight to the destination."},
	{CauseAlternate, "Alternate page", "The page names another URL as its canonical URL.", "Make the page name its own URL, or remove it from the sitemap."},
	{CauseDuplicate, "Duplicate", "Google takes the page for a copy of another one.", "Name the canonical URL in the page with <link rel=canonical>, or make its content different."},
	{CauseGoogleCanonical, "Google chose another canonical", "Google shows another page in place of this one.", "Make the content different, and link to this page rather than to the other one."},
	{CauseCrawled, "Crawled, not indexed", "Google crawled the page and decided not to index it.", "Improve the content of the page and link to it from other pages."},
	{CauseDiscovered, "Discovered, not crawled", "Google knows the URL and has not crawled it yet.", "Link to the page from pages that are indexed, and check that the server is fast."},
	{CauseUnknownToGoogle, "Unknown to Google", "Google has never seen this URL.", "Submit the page or its sitemap, and link to it."},
	{CauseInvalidURL, "Invalid URL", "Google cannot crawl this URL.", "Correct the URL in the sitemap."},
	{CauseCrawlError, "Crawl error", "Google failed to crawl the page.", "Test the live URL in Search Console, then submit the page."},
	{CauseNoContent, "No content", "Google found no content that it can read.", "Check that the page shows its content to crawlers."},
	{CauseRemoved, "Removed from search", "The page was removed from search by a request.", "Check the removals in Search Console."},
	{CauseThin, "Little text", "The page has little text.", "Add content that other pages do not have."},
	{CauseUnlinked, "No links", "The last crawl of the site found no link to the page.", "Link to the page from another page of the site."},
	{CauseOutsideSitemaps, "Not in a sitemap", "No sitemap has the page any more.", "Add the page to a sitemap if it is to be indexed."},
	{CauseQueued, "In the queue", "The page waits to be submitted.", "Submit it now, or raise its priority."},
	{CauseNeverSubmitted, "Never submitted", "The page was never submitted.", "Submit the page."},
	{CauseNeverVerified, "Never verified", "Google was not asked about the page yet.", "Verify the page."},
	{CauseNotIndexed, "Not indexed", "Google does not index the page and does not say why.", "Test the live URL in Search Console."},
	{CauseNotOwner, "Not an owner", "The service account is not an owner of the property in Search Console.", "Add its email address as an owner of the property, and check that the property is of the right kind."},
	{CauseAPIDisabled, "API not enabled", "The API is not enabled in the Google Cloud project.", "Enable the API in the Google Cloud console, then try again."},
	{CauseCredentials, "Invalid credentials", "Google refused the credentials.", "Create a new key for the service account and save it here."},
	{CauseRefused, "Refused", "The search engine refused the submission.", "Read the answer among the submissions, and correct what it names."},
	{CauseRateLimited, "Rate limited", "The search engine received too many requests.", "Wait: the page is submitted again later."},
	{CauseNoAnswer, "No answer", "The search engine did not answer five times.", "Submit the page again."},
	{CauseOutsideProperty, "Outside the property", "The page does not belong to the property.", "Remove the page from the sitemap, or add a website for its property."},
}

var causes = func() map[string]Cause {
	all := make(map[string]Cause, len(Causes))
	for _, c := range Causes {
		all[c.Slug] = c
	}
	return all
}()

// CauseNamed returns the cause of a slug. One that is not in Causes is a state that Google has added: its label is the
// slug in words.
func CauseNamed(slug string) Cause {
	if c, ok := causes[slug]; ok {
		return c
	}
	label := strings.ReplaceAll(slug, "_", " ")
	if label != "" {
		label = strings.ToUpper(label[:1]) + label[1:]
	}
	return Cause{slug, label, "Google reports: " + label + ".", "Test the live URL in Search Console."}
}

// coverage are the causes of Google's coverage states, by their text as clean leaves it; "" = the page is indexed.
var coverage = map[string]string{
	"submitted_and_indexed":                                "",
	"indexed_not_submitted_in_sitemap":                     "",
	"indexed_consider_marking_as_canonical":                "",
	"indexed_though_blocked_by_robots_txt":                 CauseIndexedBlocked,
	"page_indexed_without_content":                         CauseNoContent,
	"excluded_by_noindex_tag":                              CauseNoIndex,
	"submitted_url_marked_noindex":                         CauseNoIndex,
	"blocked_by_robots_txt":                                CauseRobots,
	"submitted_url_blocked_by_robots_txt":                  CauseRobots,
	"not_found":                                            CauseNotFound,
	"submitted_url_not_found":                              CauseNotFound,
	"soft":                                                 CauseSoft404,
	"submitted_url_seems_to_be_a_soft":                     CauseSoft404,
	"blocked_due_to_unauthorized_request":                  CauseUnauthorized,
	"submitted_url_returns_unauthorized_request":           CauseUnauthorized,
	"blocked_due_to_access_forbidden":                      CauseForbidden,
	"submitted_url_returned":                               CauseForbidden, // 403
	"blocked_due_to_other_xx_issue":                        CauseClientError,
	"submitted_url_blocked_due_to_other_xx_issue":          CauseClientError,
	"server_error_xx":                                      CauseServerError,
	"redirect_error":                                       CauseRedirectError,
	"page_with_redirect":                                   CauseRedirect,
	"alternate_page_with_proper_canonical_tag":             CauseAlternate,
	"duplicate_without_user_selected_canonical":            CauseDuplicate,
	"duplicate_google_chose_different_canonical_than_user": CauseGoogleCanonical,
	"duplicate_submitted_url_not_selected_as_canonical":    CauseGoogleCanonical,
	"crawled_currently_not_indexed":                        CauseCrawled,
	"discovered_currently_not_indexed":                     CauseDiscovered,
	"url_is_unknown_to_google":                             CauseUnknownToGoogle,
	"crawl_anomaly":                                        CauseCrawlError,
	"submitted_url_has_crawl_issue":                        CauseCrawlError,
	"blocked_by_page_removal_tool":                         CauseRemoved,
	"page_removed_because_of_legal_complaint":              CauseRemoved,
}

// states are the causes of the other states of an inspection.
var states = map[string]string{
	"BLOCKED_BY_META_TAG":    CauseNoIndex,
	"BLOCKED_BY_HTTP_HEADER": CauseNoIndex,
	"BLOCKED_BY_ROBOTS_TXT":  CauseRobots,
	"DISALLOWED":             CauseRobots,
	"SOFT_404":               CauseSoft404,
	"BLOCKED_ROBOTS_TXT":     CauseRobots,
	"NOT_FOUND":              CauseNotFound,
	"ACCESS_DENIED":          CauseUnauthorized,
	"SERVER_ERROR":           CauseServerError,
	"REDIRECT_ERROR":         CauseRedirectError,
	"ACCESS_FORBIDDEN":       CauseForbidden,
	"BLOCKED_4XX":            CauseClientError,
	"INTERNAL_CRAWL_ERROR":   CauseCrawlError,
	"INVALID_URL":            CauseInvalidURL,
}

const maxCause = 60 // bytes of a slug

// clean makes a slug of a text: its letters a-z in lower case, with _ for all between.
func clean(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case b.Len() == maxCause:
		case 'a' <= r && r <= 'z':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	return strings.TrimRight(b.String(), "_")
}

// CauseOf returns the slug of the cause why Google does not index a page, or should not; "" = it is indexed, or nothing is
// known. A coverage state that is not known becomes a slug of its text, unless the other states say more.
func CauseOf(i Inspection) string {
	text := clean(i.CoverageState)
	cause, known := coverage[text]
	switch {
	case known:
		return cause
	case i.Verdict == "PASS":
		return ""
	}
	for _, state := range []string{i.IndexingState, i.RobotsState, i.FetchState} {
		if cause := states[state]; cause != "" {
			return cause
		}
	}
	if text != "" {
		return text
	}
	if i.CoverageState != "" || i.Verdict == "FAIL" || i.Verdict == "NEUTRAL" {
		return CauseNotIndexed
	}
	return ""
}
