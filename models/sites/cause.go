package sites

import "strings"

// Cause is a reason why a page is not indexed or its submission failed. Pages are grouped by its slug.
type Cause struct {
	Slug  string // stable; a-z and _, at most 60 bytes
	Label string
	Text  string // a sentence that says what is wrong
	Fix   string // a sentence that says what to do
}

// The slugs of causes.
const (
	// Causes of pages that are not indexed.
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
	CauseUnknownState    = "unknown_state" // Google gives no state, or none that can be a slug
	// Causes of failed submissions.
	CauseNotOwner        = "not_owner"
	CauseAPIDisabled     = "api_disabled"
	CauseCredentials     = "credentials"
	CauseRefused         = "refused"
	CauseRateLimited     = "rate_limited"
	CauseNoAnswer        = "no_answer"
	CauseOutsideProperty = "outside_property"
)

// Causes are the known causes.
var Causes = []Cause{
	{CauseNoIndex, "Excluded by noindex", "The page tells search engines not to index it.", "Remove noindex from the robots meta tag and the X-Robots-Tag header, then submit the page."},
	{CauseRobots, "Blocked by robots.txt", "robots.txt disallows the page.", "Allow the page in robots.txt, then submit it."},
	{CauseIndexedBlocked, "Indexed, though blocked by robots.txt", "Google indexed the page without reading it, because robots.txt disallows it.", "Allow the page in robots.txt. To remove it from search, add noindex as well."},
	{CauseNotFound, "Not found (404)", "The page does not exist: the server responds with 404 or 410.", "Restore the page, or remove it from the sitemap."},
	{CauseSoft404, "Soft 404", "The page looks like an error page to Google, although its status is 200.", "Add content to the page, or respond with 404 if there is none."},
	{CauseUnauthorized, "Unauthorized (401)", "The page requires a login.", "Let crawlers read the page without a login, or remove it from the sitemap."},
	{CauseForbidden, "Forbidden (403)", "The server refuses the crawler.", "Allow Googlebot in the firewall or bot protection."},
	{CauseClientError, "Other 4xx error", "The server responds with a 4xx error.", "Fix the error, then submit the page."},
	{CauseServerError, "Server error (5xx)", "The server responds with a 5xx error.", "Fix the server error, then submit the page."},
	{CauseUnreachable, "Unreachable", "The page could not be fetched.", "Check DNS, TLS and the server, then submit the page."},
	{CauseRedirect, "Page with redirect", "The page redirects to another URL.", "List the destination in the sitemap instead."},
	{CauseRedirectError, "Redirect error", "The page redirects too many times, in a loop, or to an invalid URL.", "Redirect once, directly to the destination."},
	{CauseAlternate, "Alternate page", "The page declares another URL as canonical.", "Set the canonical URL to the URL of the page itself, or remove the page from the sitemap."},
	{CauseDuplicate, "Duplicate", "Google considers the page a duplicate of another one.", "Declare the canonical URL with <link rel=canonical>, or make the content different."},
	{CauseGoogleCanonical, "Google chose another canonical", "Google shows another page instead of this one.", "Make the content different, and link to this page instead of the other one."},
	{CauseCrawled, "Crawled, not indexed", "Google crawled the page and decided not to index it.", "Improve the content of the page and link to it from other pages."},
	{CauseDiscovered, "Discovered, not crawled", "Google knows the URL and has not crawled it yet.", "Link to the page from pages that are indexed, and check that the server is fast."},
	{CauseUnknownToGoogle, "Unknown to Google", "Google has never seen this URL.", "Submit the page or its sitemap, and link to it."},
	{CauseInvalidURL, "Invalid URL", "Google cannot crawl this URL.", "Correct the URL in the sitemap."},
	{CauseCrawlError, "Crawl error", "Google failed to crawl the page.", "Test the live URL in Search Console, then submit the page."},
	{CauseNoContent, "No content", "Google found no content that it can read.", "Check that the page shows its content to crawlers."},
	{CauseRemoved, "Removed from search", "The page was removed from search by a request.", "Check the removals in Search Console."},
	{CauseThin, "Little text", "The page has little text.", "Add content that other pages do not have."},
	{CauseUnlinked, "No links", "The last crawl of the site found no link to the page.", "Link to the page from another page of the site."},
	{CauseOutsideSitemaps, "Not in a sitemap", "The page is in no sitemap any more.", "Add the page to a sitemap if it should be indexed."},
	{CauseQueued, "Queued", "The page is queued for submission.", "Submit it now, or raise its priority."},
	{CauseNeverSubmitted, "Never submitted", "The page has not been submitted.", "Submit the page."},
	{CauseNeverVerified, "Never verified", "The page has not been verified with Google.", "Verify the page."},
	{CauseUnknownState, "Unknown state", "Google reports no state of the page that Linkwatch knows.", "Test the live URL in Search Console."},
	{CauseNotOwner, "Not an owner", "The service account is not an owner of the property in Search Console.", "Add its email address as an owner of the property, and check that the property is of the right kind."},
	{CauseAPIDisabled, "API not enabled", "The API is not enabled in the Google Cloud project.", "Enable the API in the Google Cloud console, then try again."},
	{CauseCredentials, "Invalid credentials", "Google refused the credentials.", "Create a new key for the service account and save it here."},
	{CauseRefused, "Refused", "The search engine refused the submission.", "See the submissions of the website for the reason, then fix it."},
	{CauseRateLimited, "Rate limited", "The search engine received too many requests.", "No action needed: Linkwatch retries later."},
	{CauseNoAnswer, "No response", "The search engine did not respond in five attempts.", "Submit the page again."},
	{CauseOutsideProperty, "Outside the property", "The page is outside the Search Console property.", "Remove the page from the sitemap, or add a website for its property."},
}

var causeBySlug = func() map[string]Cause {
	all := make(map[string]Cause, len(Causes))
	for _, c := range Causes {
		all[c.Slug] = c
	}
	return all
}()

// CauseBySlug returns a cause. An unknown slug is a state that Google has added; its label is made from the slug.
func CauseBySlug(slug string) Cause {
	if c, ok := causeBySlug[slug]; ok {
		return c
	}
	label := strings.ReplaceAll(slug, "_", " ")
	if label != "" {
		label = strings.ToUpper(label[:1]) + label[1:]
	}
	return Cause{slug, label, "Google reports: " + label + ".", "Test the live URL in Search Console."}
}

// coverage is what a coverage state means.
type coverage struct {
	status Status
	cause  string // "" = none
}

// coverageStates are the coverage states of the URL Inspection API, by slugify of the state. They include states that Search
// Console no longer uses.
var coverageStates = map[string]coverage{
	"submitted_and_indexed":                                {Indexed, ""},
	"indexed_not_submitted_in_sitemap":                     {Indexed, ""},
	"indexed_consider_marking_as_canonical":                {Indexed, ""},
	"indexed_though_blocked_by_robots_txt":                 {Indexed, CauseIndexedBlocked},
	"page_indexed_without_content":                         {Indexed, CauseNoContent},
	"indexed_without_content":                              {Indexed, CauseNoContent},
	"excluded_by_noindex_tag":                              {NotIndexed, CauseNoIndex},
	"submitted_url_marked_noindex":                         {NotIndexed, CauseNoIndex},
	"blocked_by_robots_txt":                                {NotIndexed, CauseRobots},
	"submitted_url_blocked_by_robots_txt":                  {NotIndexed, CauseRobots},
	"not_found":                                            {NotIndexed, CauseNotFound},
	"submitted_url_not_found":                              {NotIndexed, CauseNotFound},
	"soft":                                                 {NotIndexed, CauseSoft404},
	"submitted_url_seems_to_be_a_soft":                     {NotIndexed, CauseSoft404},
	"blocked_due_to_unauthorized_request":                  {NotIndexed, CauseUnauthorized},
	"submitted_url_returns_unauthorized_request":           {NotIndexed, CauseUnauthorized},
	"blocked_due_to_access_forbidden":                      {NotIndexed, CauseForbidden},
	"submitted_url_returned":                               {NotIndexed, CauseForbidden}, // 403
	"blocked_due_to_other_xx_issue":                        {NotIndexed, CauseClientError},
	"submitted_url_blocked_due_to_other_xx_issue":          {NotIndexed, CauseClientError},
	"server_error_xx":                                      {NotIndexed, CauseServerError},
	"redirect_error":                                       {NotIndexed, CauseRedirectError},
	"page_with_redirect":                                   {NotIndexed, CauseRedirect},
	"alternate_page_with_proper_canonical_tag":             {NotIndexed, CauseAlternate},
	"duplicate_without_user_selected_canonical":            {NotIndexed, CauseDuplicate},
	"duplicate_page_without_canonical_tag":                 {NotIndexed, CauseDuplicate},
	"duplicate_non_html_page":                              {NotIndexed, CauseDuplicate},
	"duplicate_google_chose_different_canonical_than_user": {NotIndexed, CauseGoogleCanonical},
	"google_chose_different_canonical_than_user":           {NotIndexed, CauseGoogleCanonical},
	"duplicate_submitted_url_not_selected_as_canonical":    {NotIndexed, CauseGoogleCanonical},
	"submitted_url_not_selected_as_canonical":              {NotIndexed, CauseGoogleCanonical},
	"crawled_currently_not_indexed":                        {NotIndexed, CauseCrawled},
	"submitted_url_dropped":                                {NotIndexed, CauseCrawled},
	"discovered_currently_not_indexed":                     {NotIndexed, CauseDiscovered},
	"queued_for_crawling":                                  {NotIndexed, CauseDiscovered},
	"url_is_unknown_to_google":                             {NotIndexed, CauseUnknownToGoogle},
	"crawl_anomaly":                                        {NotIndexed, CauseCrawlError},
	"submitted_url_has_crawl_issue":                        {NotIndexed, CauseCrawlError},
	"blocked_by_page_removal_tool":                         {NotIndexed, CauseRemoved},
	"page_removed_because_of_legal_complaint":              {NotIndexed, CauseRemoved},
}

// stateCauses are the causes of the robots, indexing and fetch states of an inspection.
var stateCauses = map[string]string{
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

const maxSlug = 60 // bytes of a slug

// slugify returns the letters of text in lower case, with _ for everything between them, cut to maxSlug bytes.
func slugify(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case b.Len() == maxSlug:
		case 'a' <= r && r <= 'z':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	return strings.TrimRight(b.String(), "_")
}

// Status returns the index status that the coverage state means; "" = unknown. The verdict counts only if the state is unknown,
// and only if it says that the page is indexed: other verdicts include indexed pages with a warning.
func (i Inspection) Status() Status {
	if c, known := coverageStates[slugify(i.CoverageState)]; known {
		return c.status
	}
	if i.Verdict == "PASS" {
		return Indexed
	}
	return ""
}

// CauseOf returns the slug of the reason why Google does not index a page, or of a threat to an indexed one; "" = none. An unknown
// coverage state becomes a slug of its text, unless another state is known.
func CauseOf(i Inspection) string {
	text := slugify(i.CoverageState)
	c, known := coverageStates[text]
	switch {
	case known:
		return c.cause
	case i.Verdict == "PASS":
		return ""
	}
	for _, state := range []string{i.IndexingState, i.RobotsState, i.FetchState} {
		if cause := stateCauses[state]; cause != "" {
			return cause
		}
	}
	if text != "" {
		return text
	}
	if i.CoverageState != "" || i.Verdict == "FAIL" || i.Verdict == "NEUTRAL" {
		return CauseUnknownState
	}
	return ""
}
