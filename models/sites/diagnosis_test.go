package sites_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"linkwatch/models"
	"linkwatch/models/sites"
)

// Times: Google's last crawl, and observations before and after it.
var (
	googleCrawl = models.At(time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC))
	before      = models.At(googleCrawl.Add(-time.Hour).Time)
	after       = models.At(googleCrawl.Add(time.Hour).Time)
)

const pageURL = "https://example.com/page"

// crawledPage is a page that Google has crawled, with a coverage state.
func crawledPage(state string, change ...func(*sites.Page)) sites.Page {
	p := sites.Page{
		URL: pageURL, Status: sites.NotIndexed, LastSubmittedAt: before, LastVerifiedAt: after,
		Inspection: sites.Inspection{Verdict: "NEUTRAL", CoverageState: state, LastCrawledAt: googleCrawl},
	}
	for _, f := range change {
		f(&p)
	}
	return p
}

func indexed(change ...func(*sites.Page)) sites.Page {
	return crawledPage("Submitted and indexed", append([]func(*sites.Page){func(p *sites.Page) { p.Status, p.Verdict = sites.Indexed, "PASS" }}, change...)...)
}

// read is the evidence of a page that a crawl has read.
func read(at models.Time, change ...func(*sites.Crawled)) sites.Evidence {
	c := &sites.Crawled{FetchedAt: at, StatusCode: 200, Words: 500}
	for _, f := range change {
		f(c)
	}
	return sites.Evidence{Crawled: c}
}

func responded(at models.Time, code int) sites.Evidence {
	return read(at, func(c *sites.Crawled) { c.StatusCode, c.Words = code, -1 })
}

func checked(status sites.CheckStatus, at models.Time, code int, err string) sites.Evidence {
	return sites.Evidence{Checked: &sites.Checked{Status: status, StatusCode: code, CheckedAt: at, Error: err}}
}

func noindex(c *sites.Crawled) { c.NoIndex = true }
func robots(c *sites.Crawled)  { c.Robots, c.StatusCode, c.Words = true, 0, -1 }
func redirects(c *sites.Crawled) {
	c.Redirects, c.RedirectsTo, c.StatusCode, c.Words = true, "https://example.com/to", 301, -1
}
func loops(c *sites.Crawled) {
	c.Redirects, c.Error, c.StatusCode, c.Words = true, "too many redirects", 0, -1
}
func otherCanonical(c *sites.Crawled) {
	c.Canonical, c.OtherCanonical = "https://example.com/other", true
}
func copies(c *sites.Crawled)      { c.OtherCanonical = true }
func thin(c *sites.Crawled)        { c.Words = 12 }
func oneWord(c *sites.Crawled)     { c.Words = 1 }
func notText(c *sites.Crawled)     { c.Words = -1 }
func unlinked(c *sites.Crawled)    { c.Unlinked = true }
func unreachable(c *sites.Crawled) { c.Error, c.StatusCode, c.Words = "timed out", 0, -1 }

func countKey(set func(*sites.Inspection)) func(*sites.Page) {
	return func(p *sites.Page) { set(&p.Inspection) }
}

func TestDiagnose(t *testing.T) {
	const (
		alternate  = "Alternate page with proper canonical tag"
		crawled    = "Crawled - currently not indexed"
		notCrawled = " Google has not crawled it since."
		fixed      = ". Fixed since Google's last crawl."
	)
	googleChose := countKey(func(i *sites.Inspection) { i.GoogleCanonical = "https://example.com/chosen" })
	userDeclared := countKey(func(i *sites.Inspection) { i.UserCanonical = "https://example.com/named" })
	queued := func(p *sites.Page) { p.QueuedForIndexNow, p.UsesIndexNow = true, true }
	unknown := sites.Page{URL: pageURL, Status: sites.Pending}
	for name, c := range map[string]struct {
		page  sites.Page
		known sites.Evidence
		want  []string // certainty, cause: text
	}{
		"indexed":                         {indexed(), read(after), nil},
		"indexed, seen before":            {indexed(), read(before, noindex), nil},
		"indexed, thin and unlinked":      {indexed(), read(after, thin, unlinked), nil},
		"indexed, queued again":           {indexed(queued), sites.Evidence{}, nil},
		"indexed, noindex since":          {indexed(), read(after, noindex), []string{"certain noindex: The page tells search engines not to index it." + notCrawled}},
		"indexed, gone since":             {indexed(), responded(after, 410), []string{"certain not_found: The server responds with status 410." + notCrawled}},
		"indexed, another canonical":      {indexed(googleChose), sites.Evidence{}, []string{"google google_canonical: Google shows https://example.com/chosen instead of this page."}},
		"indexed, its own canonical":      {indexed(countKey(func(i *sites.Inspection) { i.GoogleCanonical = pageURL + "/" })), sites.Evidence{}, nil},
		"indexed though blocked":          {crawledPage("Indexed, though blocked by robots.txt", countKey(func(i *sites.Inspection) { i.RobotsState = "DISALLOWED" })), sites.Evidence{}, []string{"google indexed_though_blocked: "}},
		"indexed though blocked, verdict": {indexed(countKey(func(i *sites.Inspection) { i.CoverageState = "Indexed, though blocked by robots.txt" })), sites.Evidence{}, []string{"google indexed_though_blocked: "}},

		"noindex, by Google alone": {crawledPage("Excluded by ‘noindex’ tag"), sites.Evidence{}, []string{"google noindex: The page tells search engines not to index it."}},
		"noindex, confirmed":       {crawledPage("Excluded by 'noindex' tag"), read(after, noindex), []string{"certain noindex: The page tells search engines not to index it."}},
		"noindex, seen before":     {crawledPage("Excluded by 'noindex' tag"), read(before), []string{"google noindex: The page"}},
		"noindex, fixed":           {crawledPage("Excluded by 'noindex' tag"), read(after), []string{"google noindex: Google reports: Excluded by noindex" + fixed}},
		"noindex, broken since":    {crawledPage("Excluded by 'noindex' tag"), responded(after, 500), []string{"certain server_error: The server responds with status 500." + notCrawled, "google noindex: The page"}},
		"noindex, never crawled":   {unknown, read(after, noindex), []string{"certain noindex: The page tells search engines not to index it.", "waiting never_submitted: ", "waiting never_verified: "}},
		"noindex by its state":     {crawledPage("", countKey(func(i *sites.Inspection) { i.IndexingState = "BLOCKED_BY_HTTP_HEADER" })), sites.Evidence{}, []string{"google noindex: "}},

		"robots, by Google alone": {crawledPage("Blocked by robots.txt"), read(after), []string{"google robots: "}},
		"robots, confirmed":       {crawledPage("Blocked by robots.txt"), read(after, robots), []string{"certain robots: robots.txt disallows the page."}},
		"robots, seen here":       {crawledPage(crawled), read(after, robots), []string{"likely robots: robots.txt disallows the page." + notCrawled, "google crawled_not_indexed: "}},
		"robots by two states":    {crawledPage(crawled, countKey(func(i *sites.Inspection) { i.RobotsState, i.FetchState = "DISALLOWED", "BLOCKED_ROBOTS_TXT" })), sites.Evidence{}, []string{"google crawled_not_indexed: ", "google robots: "}},

		"404, confirmed":           {crawledPage("Not found (404)"), responded(before, 404), []string{"certain not_found: The server responds with status 404."}},
		"404, fixed":               {crawledPage("Not found (404)"), read(after), []string{"google not_found: Google reports: Not found (404)" + fixed}},
		"404, fixed by a check":    {crawledPage("Not found (404)"), checked(sites.CheckUp, after, 200, ""), []string{"google not_found: Google reports: Not found (404)" + fixed}},
		"404, fixed by a recheck":  {crawledPage("Not found (404)"), sites.Evidence{Saved: &sites.Saved{Health: "ok", StatusCode: 200, CheckedAt: after}}, []string{"google not_found: Google reports: Not found (404)" + fixed}},
		"404, paused check":        {crawledPage("Not found (404)"), checked(sites.CheckPaused, after, 200, ""), []string{"google not_found: The page does not exist"}},
		"404 in the crawl, up now": {crawledPage(crawled), sites.Evidence{Crawled: responded(before, 404).Crawled, Checked: checked(sites.CheckUp, after, 200, "").Checked}, []string{"google crawled_not_indexed: "}},
		"5xx, down now":            {crawledPage("Server error (5xx)"), checked(sites.CheckDown, after, 503, "unexpected status 503"), []string{"certain server_error: The server responds with status 503."}},
		"5xx, fixed":               {crawledPage("Server error (5xx)"), read(after), []string{"google server_error: Google reports: Server error (5xx)" + fixed}},
		"down now":                 {crawledPage(crawled), checked(sites.CheckDown, after, 0, "timed out"), []string{"likely unreachable: The page could not be fetched: timed out." + notCrawled, "google crawled_not_indexed: "}},
		"down by a keyword":        {crawledPage(crawled), checked(sites.CheckDown, after, 200, "keyword not found"), []string{"google crawled_not_indexed: "}},
		"unreachable":              {crawledPage(crawled), read(after, unreachable), []string{"likely unreachable: The page could not be fetched: timed out." + notCrawled, "google crawled_not_indexed: "}},
		"unreachable before":       {crawledPage(crawled), read(before, unreachable), []string{"google crawled_not_indexed: "}},
		"401":                      {crawledPage("Blocked due to unauthorized request (401)"), responded(after, 401), []string{"certain unauthorized: The server responded to Linkwatch with status 401."}},
		"403, here alone":          {crawledPage(crawled), responded(after, 403), []string{"likely forbidden: The server responded to Linkwatch with status 403." + notCrawled, "google crawled_not_indexed: "}},
		"403, not here":            {crawledPage("Blocked due to access forbidden (403)"), read(after), []string{"google forbidden: The server refuses the crawler."}},
		"429":                      {crawledPage(crawled), responded(after, 429), []string{"likely client_error: The server responded to Linkwatch with status 429." + notCrawled, "google crawled_not_indexed: "}},
		"other 4xx, fixed":         {crawledPage("Blocked due to other 4xx issue"), read(after), []string{"google client_error: Google reports: Other 4xx error" + fixed}},
		"soft 404, thin":           {crawledPage("Soft 404"), read(after, thin), []string{"likely thin: The page has 12 words of text.", "google soft_404: "}},
		"one word":                 {crawledPage(crawled), read(before, oneWord), []string{"likely thin: The page has 1 word of text.", "google crawled_not_indexed: "}},
		"not a text":               {crawledPage(crawled), read(before, notText), []string{"google crawled_not_indexed: "}},

		"redirect, confirmed":    {crawledPage("Page with redirect"), read(after, redirects), []string{"certain redirect: The page redirects to https://example.com/to."}},
		"redirect, since":        {crawledPage(crawled), read(after, redirects), []string{"certain redirect: The page redirects to https://example.com/to." + notCrawled, "google crawled_not_indexed: "}},
		"redirect, fixed":        {crawledPage("Page with redirect"), read(after), []string{"google redirect: Google reports: Page with redirect" + fixed}},
		"redirect, still":        {crawledPage("Page with redirect"), read(before), []string{"google redirect: The page redirects to another URL."}},
		"redirect, moved link":   {crawledPage(crawled), sites.Evidence{Saved: &sites.Saved{Health: "moved", StatusCode: 200, CheckedAt: after, MovedTo: "https://example.com/new"}}, []string{"certain redirect: The page redirects to https://example.com/new." + notCrawled, "google crawled_not_indexed: "}},
		"redirect to a slash":    {crawledPage(crawled), sites.Evidence{Saved: &sites.Saved{Health: "moved", StatusCode: 200, CheckedAt: after, MovedTo: pageURL + "/"}}, []string{"google crawled_not_indexed: "}},
		"redirect error":         {crawledPage("Redirect error"), read(after, loops), []string{"certain redirect_error: "}},
		"redirect error, fixed":  {crawledPage("Redirect error"), read(after), []string{"google redirect_error: Google reports: Redirect error" + fixed}},
		"redirect, up elsewhere": {crawledPage("Page with redirect"), checked(sites.CheckUp, after, 200, ""), []string{"google redirect: The page redirects to another URL."}},

		"alternate, confirmed":       {crawledPage(alternate), read(after, otherCanonical), []string{"certain alternate: The page declares https://example.com/other as its canonical URL."}},
		"alternate, URL by Google":   {crawledPage(alternate, userDeclared), read(after, copies), []string{"certain alternate: The page declares https://example.com/named as its canonical URL."}},
		"alternate, since":           {crawledPage(crawled), read(after, copies), []string{"likely alternate: The page declares another URL as canonical." + notCrawled, "google crawled_not_indexed: "}},
		"alternate, fixed":           {crawledPage(alternate, googleChose), read(after), []string{"google alternate: Google reports: Alternate page" + fixed}},
		"alternate, by Google alone": {crawledPage(alternate, userDeclared), sites.Evidence{}, []string{"google alternate: The page declares https://example.com/named as its canonical URL."}},
		"duplicate":                  {crawledPage("Duplicate without user-selected canonical", googleChose), read(after), []string{"google duplicate: Google shows https://example.com/chosen instead of this page."}},
		"Google chose":               {crawledPage("Duplicate, Google chose different canonical than user"), read(after), []string{"google google_canonical: Google shows another page instead of this one."}},
		"Google's canonical":         {crawledPage(crawled, googleChose), sites.Evidence{}, []string{"google crawled_not_indexed: ", "google google_canonical: Google shows https://example.com/chosen instead of this page."}},

		"orphan":           {crawledPage("Discovered - currently not indexed"), sites.Evidence{Crawled: &sites.Crawled{Words: -1, Unlinked: true}}, []string{"likely unlinked: The last crawl of the site found no link to the page.", "google discovered_not_indexed: "}},
		"several":          {crawledPage(crawled), read(after, noindex, otherCanonical, thin, unlinked), []string{"certain noindex: ", "likely alternate: ", "likely thin: ", "likely unlinked: ", "google crawled_not_indexed: "}},
		"thin, not read":   {crawledPage("Discovered - currently not indexed"), read(after, thin), []string{"google discovered_not_indexed: "}},
		"unknown state":    {crawledPage("Some new state: 7."), sites.Evidence{}, []string{"google some_new_state: Google reports: Some new state: 7."}},
		"no reason":        {crawledPage("", countKey(func(i *sites.Inspection) { i.Verdict = "NEUTRAL" })), sites.Evidence{}, []string{"google unknown_state: "}},
		"never submitted":  {unknown, sites.Evidence{}, []string{"waiting never_submitted: ", "waiting never_verified: "}},
		"queued":           {sites.Page{URL: pageURL, QueuedForGoogle: true}, sites.Evidence{}, []string{"waiting queued: ", "waiting never_verified: "}},
		"queued again":     {crawledPage(crawled, queued), sites.Evidence{}, []string{"google crawled_not_indexed: ", "waiting queued: "}},
		"refused":          {sites.Page{URL: pageURL, Status: sites.Failed, Cause: sites.CauseNotOwner, LastSubmittedAt: before, LastVerifiedAt: before}, sites.Evidence{}, []string{"likely not_owner: "}},
		"not in a sitemap": {crawledPage(crawled, func(p *sites.Page) { p.GoneAt = after }), sites.Evidence{}, []string{"likely not_in_sitemap: ", "google crawled_not_indexed: "}},
		"unknown to Google": {sites.Page{URL: pageURL, Status: sites.NotIndexed, LastVerifiedAt: after, Inspection: sites.Inspection{Verdict: "NEUTRAL", CoverageState: "URL is unknown to Google"}}, sites.Evidence{},
			[]string{"google unknown_to_google: ", "waiting never_submitted: "}},
	} {
		var got []string
		for _, f := range sites.Diagnose(c.page, c.known) {
			got = append(got, string(f.Certainty)+" "+f.Cause+": "+f.Text)
			if f.Fix == "" || !strings.HasSuffix(f.Fix, ".") || !strings.HasSuffix(f.Text, ".") {
				t.Errorf("%s: %+v", name, f)
			}
			if strings.Contains(f.Text, "Fixed since") != (f.Fix == "Submit the page again.") {
				t.Errorf("%s: fix %q", name, f.Fix)
			}
		}
		if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, c.want)
		}
	}
}

func TestCauseOf(t *testing.T) {
	for text, want := range map[string]string{
		"Submitted and indexed":                                 "",
		"Indexed, not submitted in sitemap":                     "",
		"Indexed; consider marking as canonical":                "",
		"Indexed, though blocked by robots.txt":                 sites.CauseIndexedBlocked,
		"Page indexed without content":                          sites.CauseNoContent,
		"Excluded by ‘noindex’ tag":                             sites.CauseNoIndex,
		"Excluded by 'noindex' tag":                             sites.CauseNoIndex,
		"Submitted URL marked ‘noindex’":                        sites.CauseNoIndex,
		"Blocked by robots.txt":                                 sites.CauseRobots,
		"Submitted URL blocked by robots.txt":                   sites.CauseRobots,
		"Not found (404)":                                       sites.CauseNotFound,
		"Submitted URL not found (404)":                         sites.CauseNotFound,
		"Soft 404":                                              sites.CauseSoft404,
		"Submitted URL seems to be a Soft 404":                  sites.CauseSoft404,
		"Blocked due to unauthorized request (401)":             sites.CauseUnauthorized,
		"Submitted URL returns unauthorized request (401)":      sites.CauseUnauthorized,
		"Blocked due to access forbidden (403)":                 sites.CauseForbidden,
		"Submitted URL returned 403":                            sites.CauseForbidden,
		"Blocked due to other 4xx issue":                        sites.CauseClientError,
		"Submitted URL blocked due to other 4xx issue":          sites.CauseClientError,
		"Server error (5xx)":                                    sites.CauseServerError,
		"Redirect error":                                        sites.CauseRedirectError,
		"Page with redirect":                                    sites.CauseRedirect,
		"Alternate page with proper canonical tag":              sites.CauseAlternate,
		"Duplicate without user-selected canonical":             sites.CauseDuplicate,
		"Duplicate, Google chose different canonical than user": sites.CauseGoogleCanonical,
		"Duplicate, submitted URL not selected as canonical":    sites.CauseGoogleCanonical,
		"Crawled - currently not indexed":                       sites.CauseCrawled,
		"Discovered - currently not indexed":                    sites.CauseDiscovered,
		"URL is unknown to Google":                              sites.CauseUnknownToGoogle,
		"Crawl anomaly":                                         sites.CauseCrawlError,
		"Submitted URL has crawl issue":                         sites.CauseCrawlError,
		"Blocked by page removal tool":                          sites.CauseRemoved,
		"Page removed because of legal complaint":               sites.CauseRemoved,
		"":                                "",
		"  Something -- else (7)! ":       "something_else",
		"索引未登録":                           sites.CauseUnknownState,
		strings.Repeat("long ", 12) + "x": strings.TrimSuffix(strings.Repeat("long_", 12), "_"),
		"Crawled – currently not indexed": sites.CauseCrawled,
	} {
		if got := sites.CauseOf(sites.Inspection{CoverageState: text}); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for _, c := range []struct {
		i    sites.Inspection
		want string
	}{
		{sites.Inspection{Verdict: "PASS", CoverageState: "Something else"}, ""},
		{sites.Inspection{Verdict: "PASS"}, ""},
		{sites.Inspection{Verdict: "FAIL"}, sites.CauseUnknownState},
		{sites.Inspection{Verdict: "NEUTRAL"}, sites.CauseUnknownState},
		{sites.Inspection{Verdict: "VERDICT_UNSPECIFIED"}, ""},
		{sites.Inspection{CoverageState: "Something else", IndexingState: "BLOCKED_BY_META_TAG"}, sites.CauseNoIndex},
		{sites.Inspection{CoverageState: "Crawled - currently not indexed", IndexingState: "BLOCKED_BY_META_TAG"}, sites.CauseCrawled},
		{sites.Inspection{IndexingState: "BLOCKED_BY_HTTP_HEADER"}, sites.CauseNoIndex},
		{sites.Inspection{IndexingState: "BLOCKED_BY_ROBOTS_TXT"}, sites.CauseRobots},
		{sites.Inspection{IndexingState: "INDEXING_ALLOWED", RobotsState: "DISALLOWED"}, sites.CauseRobots},
		{sites.Inspection{RobotsState: "ALLOWED", FetchState: "SUCCESSFUL"}, ""},
		{sites.Inspection{FetchState: "SOFT_404"}, sites.CauseSoft404},
		{sites.Inspection{FetchState: "BLOCKED_ROBOTS_TXT"}, sites.CauseRobots},
		{sites.Inspection{FetchState: "NOT_FOUND"}, sites.CauseNotFound},
		{sites.Inspection{FetchState: "ACCESS_DENIED"}, sites.CauseUnauthorized},
		{sites.Inspection{FetchState: "SERVER_ERROR"}, sites.CauseServerError},
		{sites.Inspection{FetchState: "REDIRECT_ERROR"}, sites.CauseRedirectError},
		{sites.Inspection{FetchState: "ACCESS_FORBIDDEN"}, sites.CauseForbidden},
		{sites.Inspection{FetchState: "BLOCKED_4XX"}, sites.CauseClientError},
		{sites.Inspection{FetchState: "INTERNAL_CRAWL_ERROR"}, sites.CauseCrawlError},
		{sites.Inspection{FetchState: "INVALID_URL"}, sites.CauseInvalidURL},
	} {
		if got := sites.CauseOf(c.i); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.i, got, c.want)
		}
	}
}

func isSlug(s string) bool {
	return len(s) <= 60 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_0123456789") == "" && !strings.HasPrefix(s, "_") && !strings.HasSuffix(s, "_")
}

// If Google reports a specific reason, Diagnose adds no guesses.
func TestDiagnoseGuessesOnlyWithoutAReason(t *testing.T) {
	for state, want := range map[string][]string{
		"Excluded by ‘noindex’ tag":          {sites.CauseNoIndex},
		"Crawled - currently not indexed":    {sites.CauseUnlinked, sites.CauseCrawled},
		"URL is unknown to Google":           {sites.CauseUnlinked, sites.CauseUnknownToGoogle},
		"Server error (5xx)":                 {sites.CauseServerError},
		"Page with redirect":                 {sites.CauseRedirect},
		"Discovered - currently not indexed": {sites.CauseUnlinked, sites.CauseDiscovered},
	} {
		p := sites.Page{URL: pageURL, Status: sites.NotIndexed, Inspection: sites.Inspection{Verdict: "NEUTRAL", CoverageState: state}, LastSubmittedAt: before, LastVerifiedAt: after}
		var got []string
		for _, f := range sites.Diagnose(p, sites.Evidence{Crawled: &sites.Crawled{Unlinked: true, Words: -1}}) {
			got = append(got, f.Cause)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", state, got, want)
		}
	}
}

func TestCauses(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range sites.Causes {
		if seen[c.Slug] || !isSlug(c.Slug) || c.Label == "" || !strings.HasSuffix(c.Text, ".") || !strings.HasSuffix(c.Fix, ".") || sites.CauseBySlug(c.Slug) != c {
			t.Errorf("%+v", c)
		}
		seen[c.Slug] = true
		for _, text := range []string{c.Text, c.Fix} {
			if len(strings.Fields(text)) > 25 {
				t.Errorf("%s is long: %q", c.Slug, text)
			}
		}
	}
	if c := sites.CauseBySlug("some_new_state"); c.Slug != "some_new_state" || c.Label != "Some new state" || c.Text != "Google reports: Some new state." || c.Fix == "" {
		t.Errorf("a state that is not known: %+v", c)
	}
}

func FuzzCauseOf(f *testing.F) {
	f.Add("Excluded by ‘noindex’ tag", "PASS", "NOT_FOUND")
	f.Add("\xff _é7", "", "")
	f.Fuzz(func(t *testing.T, text, verdict, fetch string) {
		i := sites.Inspection{CoverageState: text, Verdict: verdict, FetchState: fetch}
		slug := sites.CauseOf(i)
		if !isSlug(slug) || slug != "" && sites.CauseBySlug(slug).Label == "" {
			t.Errorf("got %q", slug)
		}
		sites.Diagnose(sites.Page{URL: text, Inspection: i}, sites.Evidence{})
	})
}
