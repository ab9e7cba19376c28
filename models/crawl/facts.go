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

// MaxFacts is the maximum number of URLs for FactsOf.
const MaxFacts = 500

// PageFacts are the results of crawls for a URL. Results from a frontier entry are available until the entry is deleted.
// That is KeepFrontier after the end of its crawl, or after the fetch if it was added manually.
type PageFacts struct {
	SourceID       string      // of the site; "" = not crawled
	PageID         string      // "" = the page is not stored
	FetchedAt      models.Time // last fetch or attempt; zero: never
	StatusCode     int         // of that fetch; 0 = no response, or unknown
	NoIndex        bool        // by a meta tag or a header
	Canonical      string      // canonical URL of the page; "" = none, or unknown
	OtherCanonical bool        // the page names another page as canonical, which may not exist
	Words          int         // in its main text; -1 = unknown
	Robots         bool        // disallowed by robots.txt
	Redirects      bool        // to another page
	RedirectsTo    string      // "" = unknown
	Unlinked       bool        // the last crawl of its site found no link to it
	Error          string      // why it could not be fetched; "" = fetched
}

// FactsOf returns the crawl results of up to MaxFacts URLs, by URL as given. It uses sources that are shared or the caller's
// own, and omits URLs without results. The latest result counts, whether it comes from a crawl or a manual entry.
//
// A URL matches its page with and without a trailing slash. If crawls have found both, the given form counts, unless it only
// redirects to the other. The number of queries is constant. The error is CodeInvalid ("urls") for too many URLs.
func (s *Store) FactsOf(ctx context.Context, urls []string) (map[string]PageFacts, error) {
	if len(urls) > MaxFacts {
		return nil, models.TooLong("urls", MaxFacts, "URLs")
	}
	l := lookup{
		tx: s.db.Read(ctx), since: s.clock.Now().Add(-KeepFrontier),
		pages: map[int]pageFound{}, entries: map[int]entryFound{}, linked: map[int]bool{},
	}
	for _, given := range urls {
		if a, ok := newAsked(given); ok {
			l.requested = append(l.requested, a)
		}
	}
	for _, step := range []func() error{l.findSources, l.findPages, l.findCrawls, l.findEntries, l.findRedirected} {
		if len(l.requested) == 0 {
			break
		}
		if err := step(); err != nil {
			return nil, fmt.Errorf("look up crawl results of URLs: %w", err)
		}
	}
	facts := make(map[string]PageFacts, len(l.requested))
	for i := range l.requested {
		if f := l.facts(i); f.SourceID != "" {
			facts[l.requested[i].given] = f
		}
	}
	return facts, nil
}

// lookup is one call of FactsOf. A slot is one form of a requested URL: slots 2i and 2i+1 belong to URL i.
type lookup struct {
	tx        *gorm.DB
	since     models.Time // the frontier of crawls that ended earlier may be deleted
	requested []requestedURL
	ids       map[int64]string   // of sources
	pages     map[int]pageFound  // the newest, by slot
	entries   map[int]entryFound // the newest with a result, by slot
	linked    map[int]bool       // slots with an entry in the last crawls
}

type requestedURL struct {
	given, canonical string
	at               authority
	forms            []string    // normalized: as given, and with or without a trailing slash
	sources          []int64     // sources that crawl its host
	crawls           []lastCrawl // of these sources
}

func newAsked(given string) (a requestedURL, ok bool) {
	normal, ok := Normalize(given)
	if !ok {
		return a, false
	}
	u, err := models.ParseURL("url", normal)
	if err != nil {
		return a, false
	}
	a = requestedURL{given: given, canonical: u.Canonical, at: authorityOf(u.Canonical), forms: []string{normal}}
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

func (a requestedURL) isSamePage(url string) bool {
	u, err := models.ParseURL("url", url)
	return err == nil && u.Canonical == a.canonical
}

const (
	maxParents      = 5    // parent domains whose sources may crawl a host
	maxFactSources  = 1000 // sources to consider
	maxFactJobs     = 1000 // jobs whose last crawls are considered
	maxFactCrawls   = 20   // crawls to search for one URL
	lastCrawlsOfJob = 2    // one may be running
)

// hostsAbove returns the hosts whose sources may crawl a host: the host with and without www., and its parent domains.
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

// findSources loads the sources that crawl the hosts, at most maxSources per host.
func (l *lookup) findSources() error {
	rows, seen := models.NewRows("host text"), map[string]bool{}
	for _, a := range l.requested {
		for _, h := range hostsAbove(a.at.host) {
			if !seen[h] {
				seen[h] = true
				rows.Add(h)
			}
		}
	}
	var found []Source
	own, args := models.OwnScope(l.tx, "s")
	err := rows.Raw(l.tx, `SELECT s.seq, s.id, s.host, s.port, s.allowed_domains FROM {rows} AS r CROSS JOIN sources AS s
		WHERE s.host = r.host AND s.deleted_at IS NULL AND `+own+` ORDER BY s.created_at, s.seq LIMIT ?`, joinArgs(args, maxFactSources)...).Scan(&found).Error
	l.ids = make(map[int64]string, len(found))
	by := map[authority][]int64{}
	for _, s := range found {
		l.ids[s.Seq] = s.ID
	}
	for i := range l.requested {
		a := &l.requested[i]
		allowed, known := by[a.at]
		if !known {
			for _, s := range found {
				if len(allowed) < maxSources && s.AllowedDomains.allow(a.at, s.authority()) {
					allowed = append(allowed, s.Seq)
				}
			}
			by[a.at] = allowed
		}
		a.sources = allowed
	}
	return err
}

type pageFound struct {
	Slot int
	Page
	GoneStatus *int // status when it was removed, 0 = no page links to it; nil = not gone
}

func (l *lookup) findPages() error {
	rows := models.NewRows("slot bigint, source_seq bigint, url_hash bytes")
	l.eachForm(func(slot int, url string, a requestedURL) {
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

// eachForm calls do for each form of each URL that a source crawls.
func (l *lookup) eachForm(do func(slot int, url string, a requestedURL)) {
	for i, a := range l.requested {
		for j, url := range a.forms {
			if len(a.sources) > 0 {
				do(2*i+j, url, a)
			}
		}
	}
}

type lastCrawl struct {
	JobSeq, SourceSeq, CrawlSeq int64
	Whole                       bool // completed, and its frontier is still stored
}

// findCrawls loads the last crawls of the jobs of the sources, back to the newest complete one.
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
	bySource := map[int64][]lastCrawl{}
	for i, c := range found {
		if i > 0 && found[i-1].JobSeq == c.JobSeq && (found[i-1].Whole || found[i-1].CrawlSeq == c.CrawlSeq) {
			continue
		}
		bySource[c.SourceSeq] = append(bySource[c.SourceSeq], c)
	}
	for i := range l.requested {
		a := &l.requested[i]
		for _, source := range a.sources {
			a.crawls = append(a.crawls, bySource[source]...)
		}
		a.crawls = a.crawls[:min(len(a.crawls), maxFactCrawls)]
	}
	return err
}

// manualCrawl is the crawl_seq of entries that were added manually.
const manualCrawl = 0

// eachCrawl calls do for each form of each URL and each crawl_seq under which the frontier may have it: the last crawls of
// its sources, and manualCrawl.
func (l *lookup) eachCrawl(do func(slot int, url string, crawl int64)) {
	l.eachForm(func(slot int, url string, a requestedURL) {
		do(slot, url, manualCrawl)
		for _, c := range a.crawls {
			do(slot, url, c.CrawlSeq)
		}
	})
}

const entryColumns = "r.slot, u.crawl_seq, u.source_seq, u.url, u.status, u.last_error, u.updated_at"

type entryFound struct {
	Slot                int
	CrawlSeq, SourceSeq int64
	URL                 string
	Status              EntryStatus
	LastError           string
	UpdatedAt           models.Time
	moved               bool // redirected to URL
}

// answered reports whether the URL was tried. Without an error, the entry must be done.
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

// findRedirected loads the entries of URLs that redirected to other URLs.
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

// add keeps the newest results and records which URLs the last crawls have. Manual entries count only for sources that crawl
// the URL.
func (l *lookup) add(found []entryFound) {
	for _, e := range found {
		switch {
		case e.CrawlSeq != manualCrawl:
			l.linked[e.Slot] = true
		case !slices.Contains(l.requested[e.Slot/2].sources, e.SourceSeq):
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

// facts returns the facts of URL i. An empty SourceID means that there are none.
func (l *lookup) facts(i int) PageFacts {
	a := l.requested[i]
	f, other := l.form(a, 2*i), l.form(a, 2*i+1)
	to := cmp.Or(f.RedirectsTo, f.Canonical)
	switch away := f.Redirects || f.OtherCanonical; {
	case f.FetchedAt.IsZero(), away && (to == "" || a.isSamePage(to)) && !other.FetchedAt.IsZero() && !other.Redirects && !other.OtherCanonical:
		f = other
	case away && a.isSamePage(to): // to the other form
		f.Redirects, f.RedirectsTo, f.OtherCanonical = false, "", false
	}
	if whole := slices.IndexFunc(a.crawls, func(c lastCrawl) bool { return c.Whole }); whole >= 0 && !l.linked[2*i] && !l.linked[2*i+1] {
		f.SourceID, f.Unlinked = cmp.Or(f.SourceID, l.ids[a.crawls[whole].SourceSeq]), true
	}
	return f
}

func (l *lookup) form(a requestedURL, slot int) PageFacts {
	f := PageFacts{Words: -1}
	if p, ok := l.pages[slot]; ok {
		p.applyTo(&f, a)
		f.SourceID, f.PageID = l.ids[p.SourceSeq], p.ID()
	}
	if e, ok := l.entries[slot]; ok && !e.UpdatedAt.Before(f.FetchedAt.Time) {
		e.applyTo(&f)
		f.SourceID = cmp.Or(f.SourceID, l.ids[e.SourceSeq])
	}
	return f
}

// applyTo copies the facts of a stored page to f.
func (p pageFound) applyTo(f *PageFacts, a requestedURL) {
	f.FetchedAt, f.StatusCode = p.FetchedAt, p.StatusCode
	isGone := p.GoneStatus != nil && !p.GoneAt.Before(p.FetchedAt.Time) // it was not fetched since
	if f.Unlinked = isGone && *p.GoneStatus == 0; isGone && !f.Unlinked {
		f.FetchedAt, f.StatusCode = p.GoneAt, *p.GoneStatus
	}
	switch {
	case f.StatusCode >= http.StatusBadRequest:
	case f.StatusCode >= http.StatusMultipleChoices:
		f.Redirects = true
	default:
		f.NoIndex, f.Canonical = p.NoIndex, p.Canonical
		f.OtherCanonical = p.Canonical != "" && !a.isSamePage(p.Canonical)
		if strings.Contains(p.ContentType, "html") {
			f.Words = p.WordCount
		}
	}
}

// applyTo copies the result of an entry that is newer than the stored page to f. A manual entry does not mean that a page links
// to the URL.
func (e entryFound) applyTo(f *PageFacts) {
	now := PageFacts{SourceID: f.SourceID, PageID: f.PageID, FetchedAt: e.UpdatedAt, Words: -1, Unlinked: f.Unlinked && e.CrawlSeq == manualCrawl}
	switch {
	case e.moved:
		now.Redirects, now.RedirectsTo = true, e.URL
	case e.LastError == "", e.LastError == ReasonCanonical:
		return
	case e.LastError == ReasonRobots:
		now.Robots = true
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
