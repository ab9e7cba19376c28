package crawl

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"gorm.io/gorm"

	"linkwatch/models"
)

// MaxFacts is how many URLs one FactsOf looks up.
const MaxFacts = 500

// PageFacts is what crawls know of a URL. What an entry of the frontier says of it is known until the entry is deleted:
// KeepFrontier after the end of its crawl, or after the fetch if it was added by hand.
type PageFacts struct {
	SourceID       string      // of the site; "" = it is not crawled
	PageID         string      // "" = no crawl has stored the page
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
}

// FactsOf returns what crawls of sources that are shared or the caller's own know of up to MaxFacts URLs, by the URL as it is given. Those of which they know nothing are
// missing. The newest answer counts, whether a crawl came to the URL or it was added by hand. A URL stands for its page with
// and without a slash at the end, so a canonical URL will do; if crawls know both, the given one counts, unless it only
// redirects to the other. The number of queries does not depend on that of URLs. More URLs are CodeInvalid ("urls").
func (s *Store) FactsOf(ctx context.Context, urls []string) (map[string]PageFacts, error) {
	if len(urls) > MaxFacts {
		return nil, models.Invalid("urls", "must be at most %d URLs", MaxFacts)
	}
	l := lookup{
		tx: s.db.Read(ctx), since: s.clock.Now().Add(-KeepFrontier),
		pages: map[int]pageFound{}, entries: map[int]entryFound{}, linked: map[int]bool{},
	}
	for _, given := range urls {
		if a, ok := newAsked(given); ok {
			l.asked = append(l.asked, a)
		}
	}
	for _, step := range []func() error{l.findSources, l.findPages, l.findCrawls, l.findEntries, l.findRedirected} {
		if len(l.asked) == 0 {
			break
		}
		if err := step(); err != nil {
			return nil, fmt.Errorf("looking up what crawls know of URLs: %w", err)
		}
	}
	facts := make(map[string]PageFacts, len(l.asked))
	for i := range l.asked {
		if f := l.facts(i); f.SourceID != "" {
			facts[l.asked[i].given] = f
		}
	}
	return facts, nil
}

// lookup is one FactsOf. A slot is a form of a URL that was asked for: 2i and 2i+1 are those of the URL i.
type lookup struct {
	tx      *gorm.DB
	since   models.Time // the frontier of crawls that ended before may be deleted
	asked   []asked
	ids     map[int64]string   // of sources
	pages   map[int]pageFound  // by slot, the newest
	entries map[int]entryFound // by slot, the newest with an answer
	linked  map[int]bool       // slots of which the last crawls have an entry
}

// asked is a URL that was asked for.
type asked struct {
	given, canonical, host string
	forms                  []string    // as Normalize gives them: as it was given, and with or without a slash at the end
	sources                []int64     // that crawl its host
	crawls                 []lastCrawl // of these
}

func newAsked(given string) (a asked, ok bool) {
	normal, ok := Normalize(given)
	if !ok {
		return a, false
	}
	u, err := models.ParseURL("url", normal)
	if err != nil {
		return a, false
	}
	a = asked{given: given, canonical: u.Canonical, host: u.Host, forms: []string{normal}}
	path, query, hasQuery := strings.Cut(normal, "?")
	other := path + "/"
	if strings.HasSuffix(path, "/") {
		other = strings.TrimRight(path, "/")
	}
	if strings.Count(other, "/") > 2 { // the root has one form
		if hasQuery {
			other += "?" + query
		}
		a.forms = append(a.forms, other)
	}
	return a, true
}

// same reports whether a URL is of the page that was asked for.
func (a asked) same(url string) bool {
	u, err := models.ParseURL("url", url)
	return err == nil && u.Canonical == a.canonical
}

const (
	maxParents      = 5    // domains above a host whose sources may crawl it
	maxFactSources  = 1000 // that are looked at
	maxFactJobs     = 1000 // whose last crawls are
	maxFactCrawls   = 20   // in which one URL is looked for
	lastCrawlsOfJob = 2    // one may be running
)

// hostsAbove are the hosts whose sources may crawl a host: itself, with and without www., and the domains above.
func hostsAbove(host string) []string {
	bare := strings.TrimPrefix(host, "www.")
	hosts := []string{bare, "www." + bare}
	for range maxParents {
		_, parent, ok := strings.Cut(bare, ".")
		if !ok || !strings.Contains(parent, ".") {
			break
		}
		hosts, bare = append(hosts, parent), parent
	}
	return hosts
}

// findSources finds the sources that crawl the hosts, at most maxSources for each.
func (l *lookup) findSources() error {
	rows, seen := models.NewRows("host text"), map[string]bool{}
	for _, a := range l.asked {
		for _, h := range hostsAbove(a.host) {
			if !seen[h] {
				seen[h] = true
				rows.Add(h)
			}
		}
	}
	var found []Source
	own, args := models.OwnScope(l.tx, "s")
	err := rows.Raw(l.tx, `SELECT s.seq, s.id, s.host, s.allowed_domains FROM {rows} AS r CROSS JOIN sources AS s
		WHERE s.host = r.host AND s.deleted_at IS NULL AND `+own+` ORDER BY s.created_at, s.seq LIMIT ?`, with(args, maxFactSources)...).Scan(&found).Error
	l.ids = make(map[int64]string, len(found))
	by := map[string][]int64{} // by host
	for _, s := range found {
		l.ids[s.Seq] = s.ID
	}
	for i := range l.asked {
		a := &l.asked[i]
		of, known := by[a.host]
		if !known {
			for _, s := range found {
				if len(of) < maxSources && s.AllowedDomains.allow(a.host, s.Host) {
					of = append(of, s.Seq)
				}
			}
			by[a.host] = of
		}
		a.sources = of
	}
	return err
}

// pageFound is a stored page.
type pageFound struct {
	Slot int
	Page
	GoneStatus *int // with which it went, 0 = no page links to it; nil = it is there
}

func (l *lookup) findPages() error {
	rows := models.NewRows("slot bigint, source_seq bigint, url_hash bytes")
	l.each(func(slot int, url string, a asked) {
		h := hashOf(url)
		for _, source := range a.sources {
			rows.Add(slot, source, h[:])
		}
	})
	var found []pageFound
	err := rows.Raw(l.tx, `SELECT r.slot, p.seq, p.source_seq, p.created_at, p.status_code, p.content_type, p.noindex, p.canonical, p.word_count, p.fetched_at, p.gone_at,
			v.status_code AS gone_status
		FROM {rows} AS r CROSS JOIN crawled_pages AS p
		LEFT JOIN page_versions AS v ON v.page_seq = p.seq AND v.version = p.versions AND v.change = 'gone' AND p.gone_at IS NOT NULL
		WHERE p.source_seq = r.source_seq AND p.url_hash = r.url_hash AND p.deleted_at IS NULL`).Scan(&found).Error
	for _, p := range found {
		if before, ok := l.pages[p.Slot]; !ok || before.FetchedAt.Before(p.FetchedAt.Time) {
			l.pages[p.Slot] = p
		}
	}
	return err
}

// each calls do with each form of each URL that a source crawls.
func (l *lookup) each(do func(slot int, url string, a asked)) {
	for i, a := range l.asked {
		for j, url := range a.forms {
			if len(a.sources) > 0 {
				do(2*i+j, url, a)
			}
		}
	}
}

// lastCrawl is one of the last crawls of a source.
type lastCrawl struct {
	JobSeq, SourceSeq, CrawlSeq int64
	Whole                       bool // it is over, and its frontier is there
}

// findCrawls finds the last crawls of the jobs of the sources: back to one that saw all that is linked.
func (l *lookup) findCrawls() error {
	rows := models.NewRows("seq bigint")
	for seq := range l.ids {
		rows.Add(seq)
	}
	var found []lastCrawl
	err := rows.Raw(l.tx, `SELECT e.job_seq, j.source_seq, e.crawl_seq, e.status = ? AND e.has_frontier AND e.completed_at > ? AS whole
		FROM {rows} AS r CROSS JOIN jobs AS j CROSS JOIN job_executions AS e
		WHERE j.source_seq = r.seq AND j.deleted_at IS NULL AND e.job_seq = j.seq AND e.execution_number BETWEEN j.executions - ? AND j.executions
		ORDER BY e.job_seq DESC, e.execution_number DESC LIMIT ?`, ExecutionCompleted, l.since, lastCrawlsOfJob-1, lastCrawlsOfJob*maxFactJobs).Scan(&found).Error
	of := map[int64][]lastCrawl{} // by source
	for i, c := range found {
		if i > 0 && found[i-1].JobSeq == c.JobSeq && (found[i-1].Whole || found[i-1].CrawlSeq == c.CrawlSeq) {
			continue
		}
		of[c.SourceSeq] = append(of[c.SourceSeq], c)
	}
	for i := range l.asked {
		a := &l.asked[i]
		for _, source := range a.sources {
			a.crawls = append(a.crawls, of[source]...)
		}
		a.crawls = a.crawls[:min(len(a.crawls), maxFactCrawls)]
	}
	return err
}

// byHand is the crawl_seq of entries that were added by hand.
const byHand = 0

// eachCrawl calls do with each form of each URL, and each crawl_seq under which the frontier may have it: those of the last
// crawls of its sources, and byHand.
func (l *lookup) eachCrawl(do func(slot int, url string, crawl int64)) {
	l.each(func(slot int, url string, a asked) {
		do(slot, url, byHand)
		for _, c := range a.crawls {
			do(slot, url, c.CrawlSeq)
		}
	})
}

const entryColumns = "r.slot, u.crawl_seq, u.source_seq, u.url, u.status, u.last_error, u.updated_at"

// entryFound is an entry of the frontier.
type entryFound struct {
	Slot                int
	CrawlSeq, SourceSeq int64
	URL                 string
	Status              EntryStatus
	LastError           string
	UpdatedAt           models.Time
	moved               bool // to URL
}

// answered reports whether the URL was tried: without an error, the entry must be done.
func (e entryFound) answered() bool {
	return e.moved || e.Status == EntryDone || e.LastError != "" && e.LastError != ReasonEnded
}

func (l *lookup) findEntries() error {
	rows := models.NewRows("slot bigint, crawl_seq bigint, url_hash bytes")
	l.eachCrawl(func(slot int, url string, crawl int64) {
		h := hashOf(url)
		rows.Add(slot, crawl, h[:])
	})
	var found []entryFound
	err := rows.Raw(l.tx, `SELECT `+entryColumns+` FROM {rows} AS r CROSS JOIN frontier AS u
		WHERE u.crawl_seq = r.crawl_seq AND u.url_hash = r.url_hash`).Scan(&found).Error
	l.add(found)
	return err
}

// findRedirected finds the entries of URLs that redirected to others.
func (l *lookup) findRedirected() error {
	rows := models.NewRows("slot bigint, crawl_seq bigint, url text")
	l.eachCrawl(func(slot int, url string, crawl int64) { rows.Add(slot, crawl, url) })
	var found []entryFound
	err := rows.Raw(l.tx, `SELECT `+entryColumns+` FROM {rows} AS r CROSS JOIN frontier AS u
		WHERE u.crawl_seq = r.crawl_seq AND u.linked_as = r.url AND u.linked_as <> ''`).Scan(&found).Error
	for i := range found {
		found[i].moved = true
	}
	l.add(found)
	return err
}

// add keeps the newest answers, and notes which URLs the last crawls have. Entries by hand count only for the sources that
// crawl the URL.
func (l *lookup) add(found []entryFound) {
	for _, e := range found {
		switch {
		case e.CrawlSeq != byHand:
			l.linked[e.Slot] = true
		case !slices.Contains(l.asked[e.Slot/2].sources, e.SourceSeq):
			continue
		}
		if !e.answered() {
			continue
		}
		if before, ok := l.entries[e.Slot]; !ok || before.UpdatedAt.Before(e.UpdatedAt.Time) {
			l.entries[e.Slot] = e
		}
	}
}

// facts is what is known of the URL i. Without a SourceID it is nothing.
func (l *lookup) facts(i int) PageFacts {
	a := l.asked[i]
	f, other := l.form(a, 2*i), l.form(a, 2*i+1)
	to := cmp.Or(f.RedirectsTo, f.Canonical)
	switch away := f.Redirects || f.OtherCanonical; {
	case f.FetchedAt.IsZero(), away && (to == "" || a.same(to)) && !other.FetchedAt.IsZero() && !other.Redirects && !other.OtherCanonical:
		f = other
	case away && a.same(to): // to the other form
		f.Redirects, f.RedirectsTo, f.OtherCanonical = false, "", false
	}
	if whole := slices.IndexFunc(a.crawls, func(c lastCrawl) bool { return c.Whole }); whole >= 0 && !l.linked[2*i] && !l.linked[2*i+1] {
		f.SourceID, f.Unlinked = cmp.Or(f.SourceID, l.ids[a.crawls[whole].SourceSeq]), true
	}
	return f
}

// form is what is known of a form of a URL.
func (l *lookup) form(a asked, slot int) PageFacts {
	f := PageFacts{Words: -1}
	if p, ok := l.pages[slot]; ok {
		p.tell(&f, a)
		f.SourceID, f.PageID = l.ids[p.SourceSeq], p.ID()
	}
	if e, ok := l.entries[slot]; ok && !e.UpdatedAt.Before(f.FetchedAt.Time) {
		e.tell(&f)
		f.SourceID = cmp.Or(f.SourceID, l.ids[e.SourceSeq])
	}
	return f
}

// tell notes what is stored of a page.
func (p pageFound) tell(f *PageFacts, a asked) {
	f.FetchedAt, f.StatusCode = p.FetchedAt, p.StatusCode
	went := p.GoneStatus != nil && !p.GoneAt.Before(p.FetchedAt.Time) // it was not fetched since
	if f.Unlinked = went && *p.GoneStatus == 0; went && !f.Unlinked {
		f.FetchedAt, f.StatusCode = p.GoneAt, *p.GoneStatus
	}
	switch {
	case f.StatusCode >= http.StatusBadRequest:
	case f.StatusCode >= http.StatusMultipleChoices:
		f.Redirects = true
	case went && !f.Unlinked: // the rest of the row is as it was before
		f.Canonical, f.OtherCanonical = p.Canonical, true
	default:
		f.NoIndex, f.Canonical = p.NoIndex, p.Canonical
		f.OtherCanonical = p.Canonical != "" && !a.same(p.Canonical)
		if strings.Contains(p.ContentType, "html") {
			f.Words = p.WordCount
		}
	}
}

// tell notes what became of an entry that was tried after the page was stored. One by hand does not say that a page links to it.
func (e entryFound) tell(f *PageFacts) {
	now := PageFacts{SourceID: f.SourceID, PageID: f.PageID, FetchedAt: e.UpdatedAt, Words: -1, Unlinked: f.Unlinked && e.CrawlSeq == byHand}
	switch {
	case e.moved:
		now.Redirects, now.RedirectsTo = true, e.URL
	case e.LastError == "":
		return
	case e.LastError == ReasonRobots:
		now.Robots = true
	case e.LastError == ReasonCanonical:
		now.OtherCanonical, now.StatusCode, now.Canonical = true, http.StatusOK, f.Canonical
	case e.LastError == ReasonDuplicate, e.LastError == ReasonOutside:
		now.Redirects = true
	case e.LastError == ReasonRedirects:
		now.Redirects, now.Error = true, "too many redirects"
	default:
		now.Error = e.LastError
		if _, err := fmt.Sscanf(e.LastError, "status %d", &now.StatusCode); err == nil && now.StatusCode >= http.StatusBadRequest {
			now.Error = ""
		}
	}
	*f = now
}
