package sites

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"linkwatch/models"
)

// Known is what other systems know of a page; nil = nothing.
type Known struct {
	Crawled *Crawled
	Checked *Checked
	Saved   *Saved
}

// Crawled is what crawls know of a page.
type Crawled struct {
	FetchedAt      models.Time // when it was last fetched, or tried; zero: never
	StatusCode     int         // of that; 0 = no response, or not known
	NoIndex        bool        // by a meta tag or a header
	Canonical      string      // URL that the page names as its canonical one; "" = none, or not known
	OtherCanonical bool        // the page names the URL of another page
	Words          int         // of its main text; -1 = not known
	Robots         bool        // robots.txt disallows it
	Redirects      bool        // to another page
	RedirectsTo    string      // "" = not known
	Unlinked       bool        // the last crawl of its site found no link to it
	Error          string      // why it could not be fetched; "" = it could
	Link           string      // path of what the crawl shows of it; "" = there is none
}

// Checked is what the checks of a target know of a page.
type Checked struct {
	Status     CheckStatus
	StatusCode int         // of the last check; 0 = no response
	CheckedAt  models.Time // zero: never
	Error      string      // of the last check; "" = none
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

// Saved is what the rechecks of a saved link know of a page.
type Saved struct {
	Health     string      // as the system of links names it
	StatusCode int         // of the last recheck; 0 = no response, or none yet
	CheckedAt  models.Time // zero: never
	MovedTo    string      // where it redirects to for good; "" = it does not
	Error      string      // of the last recheck; "" = there was a response
	Link       string      // path of the link
}

// Certainty says how surely a finding keeps a page out of Google's index.
type Certainty string

// The certainties, the surest first.
const (
	Certain  Certainty = "certain" // it does, by what was seen here
	Likely   Certainty = "likely"  // it may well do
	ByGoogle Certainty = "google"  // Google alone says so
	Waiting  Certainty = "waiting" // nothing is wrong: the page waits for something
)

// Certainties are all of them, in their order.
func Certainties() []Certainty { return []Certainty{Certain, Likely, ByGoogle, Waiting} }

// Finding is a reason why a page is not indexed.
type Finding struct {
	Certainty Certainty
	Cause     string // a slug, see CauseNamed
	Text      string // what is wrong
	Fix       string // what to do
}

const thinWords = 100 // a page with fewer has little text

// Diagnose returns why a page is not indexed, or will not be any longer: what Google says of it, compared with what other
// systems have seen. The surest come first, each cause once. A page that is indexed and that nothing threatens has none.
func Diagnose(p Page, k Known) []Finding {
	d := &diagnosis{page: p, known: k, google: googleCauses(p.Inspection), indexed: p.Status == Indexed}
	d.seenHere()
	d.saidByGoogle()
	d.waits()
	slices.SortStableFunc(d.found, func(a, b Finding) int {
		return cmp.Compare(slices.Index(Certainties(), a.Certainty), slices.Index(Certainties(), b.Certainty))
	})
	return d.found
}

// googleCauses are what keeps a page out of the index by an inspection, the coverage state first.
func googleCauses(i Inspection) (all []string) {
	first := CauseOf(i)
	if first == CauseIndexedBlocked { // that says it all
		return []string{first}
	}
	for _, cause := range []string{first, states[i.IndexingState], states[i.RobotsState], states[i.FetchState]} {
		if cause != "" && !slices.Contains(all, cause) {
			all = append(all, cause)
		}
	}
	return all
}

// diagnosis is one Diagnose.
type diagnosis struct {
	page    Page
	known   Known
	google  []string // causes
	indexed bool
	found   []Finding
}

// add adds a finding with the fix of its cause, unless there is one of that cause. text "" = that of the cause.
func (d *diagnosis) add(c Certainty, cause, text string) {
	if slices.ContainsFunc(d.found, func(f Finding) bool { return f.Cause == cause }) {
		return
	}
	about := CauseNamed(cause)
	d.found = append(d.found, Finding{c, cause, cmp.Or(text, about.Text), about.Fix})
}

// saw adds what was seen here at a time. Google overrules it if it has crawled the page since and found nothing of the
// kind. If Google agrees it is certain.
func (d *diagnosis) saw(at models.Time, c Certainty, cause, text string) {
	text = cmp.Or(text, CauseNamed(cause).Text)
	switch agrees := slices.Contains(d.google, cause); {
	case agrees:
		c = Certain
	case !d.newer(at):
		return
	case !d.page.LastCrawledAt.IsZero():
		text += " Google has not crawled it since."
	}
	d.add(c, cause, text)
}

// newer reports whether something was seen after Google's last visit.
func (d *diagnosis) newer(at models.Time) bool {
	return !at.IsZero() && (d.page.LastCrawledAt.IsZero() || at.After(d.page.LastCrawledAt.Time))
}

// response is how a page was answered last.
type response struct {
	at   models.Time
	code int    // 0 = not at all
	err  string // "" = it was answered
}

func (r response) ok() bool { return r.code >= 200 && r.code < 300 }

// response is the newest that any system has seen; redirects are followed. Its time is zero if there is none.
func (d *diagnosis) response() (newest response) {
	var all []response
	if c := d.known.Crawled; c != nil && !c.Redirects && (c.StatusCode != 0 || c.Error != "") {
		all = append(all, response{c.FetchedAt, c.StatusCode, c.Error})
	}
	if t := d.known.Checked; t != nil && (t.Status == CheckUp || t.Status == CheckDown) {
		all = append(all, response{t.CheckedAt, t.StatusCode, t.Error})
	}
	if s := d.known.Saved; s != nil && (s.StatusCode != 0 || s.Error != "") {
		all = append(all, response{s.CheckedAt, s.StatusCode, s.Error})
	}
	for _, r := range all {
		if newest.at.IsZero() || r.at.After(newest.at.Time) {
			newest = r
		}
	}
	return newest
}

// redirect is where the page redirects to, by the newest that was seen; at is zero if that is not known. to may be
// unknown ("").
func (d *diagnosis) redirect() (at models.Time, redirects bool, to string) {
	if c := d.known.Crawled; c != nil && (c.Redirects || c.read()) {
		at, redirects, to = c.FetchedAt, c.Redirects, c.RedirectsTo
	}
	if s := d.known.Saved; s != nil && d.page.elsewhere(s.MovedTo) && s.CheckedAt.After(at.Time) {
		at, redirects, to = s.CheckedAt, true, s.MovedTo
	}
	return at, redirects, to
}

// elsewhere reports whether a URL is that of another page; "" is not.
func (p Page) elsewhere(url string) bool {
	return Inspection{GoogleCanonical: url}.OtherCanonical(p.URL)
}

// read reports whether the content of the page was read.
func (c *Crawled) read() bool {
	return c != nil && !c.Redirects && !c.Robots && c.Error == "" && response{code: c.StatusCode}.ok()
}

// httpCause is the cause of a status code; "" = it is none.
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

// seenHere adds what other systems have seen.
func (d *diagnosis) seenHere() {
	r := d.response()
	switch cause := httpCause(r.code); {
	case cause == CauseUnauthorized, cause == CauseForbidden, r.code == http.StatusTooManyRequests: // Google may get in
		d.saw(r.at, Likely, cause, fmt.Sprintf("The server answered %d to Linkwatch.", r.code))
	case cause != "":
		d.saw(r.at, Certain, cause, fmt.Sprintf("The server answers %d.", r.code))
	case r.err != "" && !r.ok():
		d.saw(r.at, Likely, CauseUnreachable, "The page could not be fetched: "+sentence(r.err))
	}
	if at, redirects, to := d.redirect(); redirects {
		text := ""
		if to != "" {
			text = "The page redirects to " + to + "."
		}
		if c := d.known.Crawled; c != nil && c.Redirects && c.Error != "" {
			d.saw(at, Certain, CauseRedirectError, "")
		} else {
			d.saw(at, Certain, CauseRedirect, text)
		}
	}
	c := d.known.Crawled
	if c == nil {
		return
	}
	if c.NoIndex {
		d.saw(c.FetchedAt, Certain, CauseNoIndex, "")
	}
	if c.Robots { // it may allow Googlebot
		d.saw(c.FetchedAt, Likely, CauseRobots, "")
	}
	if c.OtherCanonical {
		named := c.Canonical
		if named == "" && slices.Contains(d.google, CauseAlternate) {
			named = d.page.UserCanonical
		}
		d.saw(c.FetchedAt, Likely, CauseAlternate, names(named))
	}
	if d.indexed || d.explained() {
		return
	}
	judged := slices.Contains(d.google, CauseCrawled) || slices.Contains(d.google, CauseSoft404) // Google has read the page
	if judged && c.read() && c.Words >= 0 && c.Words < thinWords {
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

// names says which URL a page names as its canonical one; "" = it is not known.
func names(url string) string {
	if url == "" {
		return ""
	}
	return "The page names " + url + " as its canonical URL."
}

// explained reports whether Google itself gives the reason, so that there is nothing to guess.
func (d *diagnosis) explained() bool {
	unclear := []string{CauseCrawled, CauseDiscovered, CauseUnknownToGoogle, CauseSoft404}
	return slices.ContainsFunc(d.google, func(cause string) bool { return !slices.Contains(unclear, cause) })
}

// sentence ends a text with a full stop.
func sentence(text string) string { return strings.TrimRight(text, ". ") + "." }

// saidByGoogle adds what Google says and nothing here has confirmed.
func (d *diagnosis) saidByGoogle() {
	p := d.page
	elsewhere := ""
	if p.OtherCanonical(p.URL) {
		elsewhere = "Google shows " + p.GoogleCanonical + " in place of this page."
	}
	for _, cause := range d.google {
		_, known := causes[cause]
		switch {
		case d.fixed(cause):
			d.found = append(d.found, Finding{
				ByGoogle, cause, "Google reports: " + CauseNamed(cause).Label + ". Fixed since Google's last visit.", "Submit the page again.",
			})
		case cause == CauseAlternate && p.UserCanonical != "":
			d.add(ByGoogle, cause, names(p.UserCanonical))
		case cause == CauseDuplicate, cause == CauseGoogleCanonical:
			d.add(ByGoogle, cause, elsewhere)
		case !known:
			d.add(ByGoogle, cause, "Google reports: "+sentence(p.CoverageState))
		default:
			d.add(ByGoogle, cause, "")
		}
	}
	canonical := func(cause string) bool {
		return cause == CauseAlternate || cause == CauseDuplicate || cause == CauseGoogleCanonical || cause == CauseRedirect
	}
	if elsewhere != "" && !slices.ContainsFunc(d.google, canonical) {
		d.add(ByGoogle, CauseGoogleCanonical, elsewhere)
	}
}

// fixed reports whether what Google says is no longer so, by what was seen since its last visit.
func (d *diagnosis) fixed(cause string) bool {
	if d.page.LastCrawledAt.IsZero() { // it did not look
		return false
	}
	c := d.known.Crawled
	read := c.read() && d.newer(c.FetchedAt)
	switch cause {
	case CauseNoIndex:
		return read && !c.NoIndex
	case CauseAlternate:
		return read && !c.OtherCanonical
	case CauseRedirect, CauseRedirectError:
		at, redirects, _ := d.redirect()
		return read && d.newer(at) && !redirects
	case CauseNotFound, CauseUnauthorized, CauseClientError, CauseServerError:
		r := d.response()
		return d.newer(r.at) && r.ok()
	}
	return false
}

// waits adds what the page waits for, and why it was not submitted.
func (d *diagnosis) waits() {
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
