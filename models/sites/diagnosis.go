package sites

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"linkwatch/models"
)

// Evidence is what other systems know about a page; nil = nothing.
type Evidence struct {
	Crawled *Crawled
	Checked *Checked
	Saved   *Saved
}

// Crawled is the result of the last crawl of a page.
type Crawled struct {
	FetchedAt      models.Time // last attempt to fetch it; zero = never
	StatusCode     int         // 0 = no response or unknown
	NoIndex        bool        // set by a meta tag or header
	Canonical      string      // declared canonical URL; "" = none or unknown
	OtherCanonical bool        // the canonical URL is that of another page
	Words          int         // words of the main text; -1 = unknown
	Robots         bool        // robots.txt disallows it
	Redirects      bool        // to another page
	RedirectsTo    string      // "" = unknown
	Unlinked       bool        // the last crawl of the site found no link to it
	Error          string      // why it could not be fetched; "" = fetched
	Link           string      // path of the crawled page; "" = none
}

// Checked is the result of the last check of the target of a page.
type Checked struct {
	Status     CheckStatus
	StatusCode int         // 0 = no response
	CheckedAt  models.Time // zero = never
	Error      string      // "" = none
	Link       string      // path of the target
}

// CheckStatus is the status of a target.
type CheckStatus string

// The statuses of targets.
const (
	CheckUp      CheckStatus = "up"
	CheckDown    CheckStatus = "down"
	CheckPending CheckStatus = "pending"
	CheckPaused  CheckStatus = "paused"
)

// Saved is the result of the last recheck of the saved link of a page.
type Saved struct {
	Health     string      // see models/links
	StatusCode int         // 0 = no response or not checked
	CheckedAt  models.Time // zero = never
	MovedTo    string      // destination of a permanent redirect; "" = none
	Error      string      // "" = there was a response
	Link       string      // path of the link
}

// Certainty is the confidence that a finding keeps a page out of Google's index.
type Certainty string

// The certainties, highest first.
const (
	Certain  Certainty = "certain" // confirmed by Linkwatch
	Likely   Certainty = "likely"  // probable
	ByGoogle Certainty = "google"  // reported by Google only
	Waiting  Certainty = "waiting" // no problem: the page has not been processed yet
)

// Certainties returns all certainties, highest first.
func Certainties() []Certainty { return []Certainty{Certain, Likely, ByGoogle, Waiting} }

// Finding is a reason why a page is not indexed.
type Finding struct {
	Certainty Certainty
	Cause     string // slug; see CauseBySlug
	Text      string // what is wrong
	Fix       string // what to do
}

const thinWords = 100 // pages with fewer words are thin

// Diagnose returns the reasons why a page is not indexed or may drop out of the index. It compares Google's report with the
// evidence of other systems. Findings are sorted by certainty, one per cause. An indexed page without threats has none.
func Diagnose(p Page, k Evidence) []Finding {
	d := &diagnosis{page: p, evidence: k, googleCauses: googleCauses(p.Inspection), indexed: p.Status == Indexed}
	d.addObserved()
	d.addReportedByGoogle()
	d.addWaiting()
	slices.SortStableFunc(d.findings, func(a, b Finding) int {
		return cmp.Compare(slices.Index(Certainties(), a.Certainty), slices.Index(Certainties(), b.Certainty))
	})
	return d.findings
}

// googleCauses are the causes reported by an inspection, that of the coverage state first.
func googleCauses(i Inspection) (all []string) {
	first := CauseOf(i)
	if first == CauseIndexedBlocked { // the other states add nothing
		return []string{first}
	}
	for _, cause := range []string{first, stateCauses[i.IndexingState], stateCauses[i.RobotsState], stateCauses[i.FetchState]} {
		if cause != "" && !slices.Contains(all, cause) {
			all = append(all, cause)
		}
	}
	return all
}

type diagnosis struct {
	page         Page
	evidence     Evidence
	googleCauses []string
	indexed      bool
	findings     []Finding
}

// add adds a finding unless there is one with the same cause. text "" is the text of the cause.
func (d *diagnosis) add(c Certainty, cause, text string) {
	if slices.ContainsFunc(d.findings, func(f Finding) bool { return f.Cause == cause }) {
		return
	}
	about := CauseBySlug(cause)
	d.findings = append(d.findings, Finding{c, cause, cmp.Or(text, about.Text), about.Fix})
}

// observe adds a finding that Linkwatch observed at a time. It is dropped if Google has crawled the page since and does not
// report it. It is certain if Google reports it too.
func (d *diagnosis) observe(at models.Time, c Certainty, cause, text string) {
	text = cmp.Or(text, CauseBySlug(cause).Text)
	switch agrees := slices.Contains(d.googleCauses, cause); {
	case agrees:
		c = Certain
	case !d.afterGoogleCrawl(at):
		return
	case !d.page.LastCrawledAt.IsZero():
		text += " Google has not crawled it since."
	}
	d.add(c, cause, text)
}

// afterGoogleCrawl reports whether a time is after Google's last crawl of the page.
func (d *diagnosis) afterGoogleCrawl(at models.Time) bool {
	return !at.IsZero() && (d.page.LastCrawledAt.IsZero() || at.After(d.page.LastCrawledAt.Time))
}

type response struct {
	at   models.Time
	code int    // 0 = no response
	err  string // "" = there was a response
}

func (r response) ok() bool { return r.code >= 200 && r.code < 300 }

// latestResponse is the latest response observed by any system, after redirects. A zero time means none.
func (d *diagnosis) latestResponse() (newest response) {
	var all []response
	if c := d.evidence.Crawled; c != nil && !c.Redirects && (c.StatusCode != 0 || c.Error != "") {
		all = append(all, response{c.FetchedAt, c.StatusCode, c.Error})
	}
	if t := d.evidence.Checked; t != nil && (t.Status == CheckUp || t.Status == CheckDown) {
		all = append(all, response{t.CheckedAt, t.StatusCode, t.Error})
	}
	if s := d.evidence.Saved; s != nil && (s.StatusCode != 0 || s.Error != "") {
		all = append(all, response{s.CheckedAt, s.StatusCode, s.Error})
	}
	for _, r := range all {
		if newest.at.IsZero() || r.at.After(newest.at.Time) {
			newest = r
		}
	}
	return newest
}

// latestRedirect reports whether the page redirects, by the latest observation. A zero at means unknown. to is "" if the
// destination is unknown.
func (d *diagnosis) latestRedirect() (at models.Time, redirects bool, to string) {
	if c := d.evidence.Crawled; c != nil && (c.Redirects || c.contentRead()) {
		at, redirects, to = c.FetchedAt, c.Redirects, c.RedirectsTo
	}
	if s := d.evidence.Saved; s != nil && d.page.isOtherPage(s.MovedTo) && s.CheckedAt.After(at.Time) {
		at, redirects, to = s.CheckedAt, true, s.MovedTo
	}
	return at, redirects, to
}

// isOtherPage reports whether url is the URL of another page; "" is not.
func (p Page) isOtherPage(url string) bool {
	return Inspection{GoogleCanonical: url}.OtherCanonical(p.URL)
}

func (c *Crawled) contentRead() bool {
	return c != nil && !c.Redirects && !c.Robots && c.Error == "" && response{code: c.StatusCode}.ok()
}

// httpCause is the cause of a status code; "" = none.
func httpCause(code int) string {
	switch {
	case code == http.StatusNotFound, code == http.StatusGone:
		return CauseNotFound
	case code == http.StatusUnauthorized:
		return CauseUnauthorized
	case code == http.StatusForbidden:
		return CauseForbidden
	case code >= 500:
		return CauseServerError
	case code >= 400:
		return CauseClientError
	}
	return ""
}

func (d *diagnosis) addObserved() {
	r := d.latestResponse()
	switch cause := httpCause(r.code); {
	case cause == CauseUnauthorized, cause == CauseForbidden, r.code == http.StatusTooManyRequests: // Google may have access
		d.observe(r.at, Likely, cause, fmt.Sprintf("The server responded to Linkwatch with status %d.", r.code))
	case cause != "":
		d.observe(r.at, Certain, cause, fmt.Sprintf("The server responds with status %d.", r.code))
	case r.err != "" && !r.ok():
		d.observe(r.at, Likely, CauseUnreachable, "The page could not be fetched: "+sentence(r.err))
	}
	if at, redirects, to := d.latestRedirect(); redirects {
		text := ""
		if to != "" {
			text = "The page redirects to " + to + "."
		}
		if c := d.evidence.Crawled; c != nil && c.Redirects && c.Error != "" {
			d.observe(at, Certain, CauseRedirectError, "")
		} else {
			d.observe(at, Certain, CauseRedirect, text)
		}
	}
	c := d.evidence.Crawled
	if c == nil {
		return
	}
	if c.NoIndex {
		d.observe(c.FetchedAt, Certain, CauseNoIndex, "")
	}
	if c.Robots { // Googlebot may be allowed
		d.observe(c.FetchedAt, Likely, CauseRobots, "")
	}
	if c.OtherCanonical {
		named := c.Canonical
		if named == "" && slices.Contains(d.googleCauses, CauseAlternate) {
			named = d.page.UserCanonical
		}
		d.observe(c.FetchedAt, Likely, CauseAlternate, canonicalText(named))
	}
	if d.indexed || d.explainedByGoogle() {
		return
	}
	crawled := slices.Contains(d.googleCauses, CauseCrawled) || slices.Contains(d.googleCauses, CauseSoft404) // Google has read the page
	if crawled && c.contentRead() && c.Words >= 0 && c.Words < thinWords {
		text := fmt.Sprintf("The page has %d words of text.", c.Words)
		if c.Words == 1 {
			text = "The page has 1 word of text."
		}
		d.add(Likely, CauseThin, text)
	}
	if c.Unlinked {
		d.add(Likely, CauseUnlinked, "")
	}
}

func canonicalText(url string) string {
	if url == "" {
		return ""
	}
	return "The page declares " + url + " as its canonical URL."
}

// explainedByGoogle reports whether Google itself gives a specific reason.
func (d *diagnosis) explainedByGoogle() bool {
	unclear := []string{CauseCrawled, CauseDiscovered, CauseUnknownToGoogle, CauseSoft404}
	return slices.ContainsFunc(d.googleCauses, func(cause string) bool { return !slices.Contains(unclear, cause) })
}

// sentence ends text with exactly one period.
func sentence(text string) string { return strings.TrimRight(text, ". ") + "." }

// addReportedByGoogle adds the causes reported by Google that are not confirmed here.
func (d *diagnosis) addReportedByGoogle() {
	p := d.page
	shownInstead := ""
	if p.OtherCanonical(p.URL) {
		shownInstead = "Google shows " + p.GoogleCanonical + " instead of this page."
	}
	for _, cause := range d.googleCauses {
		_, known := causeBySlug[cause]
		switch {
		case d.fixedSinceCrawl(cause):
			d.findings = append(d.findings, Finding{
				ByGoogle, cause, "Google reports: " + CauseBySlug(cause).Label + ". Fixed since Google's last crawl.", "Submit the page again.",
			})
		case cause == CauseAlternate && p.UserCanonical != "":
			d.add(ByGoogle, cause, canonicalText(p.UserCanonical))
		case cause == CauseDuplicate, cause == CauseGoogleCanonical:
			d.add(ByGoogle, cause, shownInstead)
		case !known:
			d.add(ByGoogle, cause, "Google reports: "+sentence(p.CoverageState))
		default:
			d.add(ByGoogle, cause, "")
		}
	}
	canonical := func(cause string) bool {
		return cause == CauseAlternate || cause == CauseDuplicate || cause == CauseGoogleCanonical || cause == CauseRedirect
	}
	if shownInstead != "" && !slices.ContainsFunc(d.googleCauses, canonical) {
		d.add(ByGoogle, CauseGoogleCanonical, shownInstead)
	}
}

// fixedSinceCrawl reports whether evidence after Google's last crawl shows that the cause no longer applies.
func (d *diagnosis) fixedSinceCrawl(cause string) bool {
	if d.page.LastCrawledAt.IsZero() { // Google has not crawled the page
		return false
	}
	c := d.evidence.Crawled
	read := c.contentRead() && d.afterGoogleCrawl(c.FetchedAt)
	switch cause {
	case CauseNoIndex:
		return read && !c.NoIndex
	case CauseAlternate:
		return read && !c.OtherCanonical
	case CauseRedirect, CauseRedirectError:
		at, redirects, _ := d.latestRedirect()
		return read && d.afterGoogleCrawl(at) && !redirects
	case CauseNotFound, CauseUnauthorized, CauseClientError, CauseServerError:
		r := d.latestResponse()
		return d.afterGoogleCrawl(r.at) && r.ok()
	}
	return false
}

// addWaiting adds a failed submission and the steps that the page has not gone through yet.
func (d *diagnosis) addWaiting() {
	p := d.page
	if p.Status == Failed && p.Cause != "" {
		d.add(Likely, p.Cause, "")
	}
	if d.indexed {
		return
	}
	if !p.GoneAt.IsZero() {
		d.add(Likely, CauseOutsideSitemaps, "")
	}
	switch {
	case p.Queued():
		d.add(Waiting, CauseQueued, "")
	case p.LastSubmittedAt.IsZero() && p.LastCrawledAt.IsZero():
		d.add(Waiting, CauseNeverSubmitted, "")
	}
	if p.LastVerifiedAt.IsZero() {
		d.add(Waiting, CauseNeverVerified, "")
	}
}
