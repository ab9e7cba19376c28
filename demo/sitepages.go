package demo

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/sites"
)

// inspectionShare is the share of pages with an inspection result.
type inspectionShare struct {
	share int // per 1,000
	sites.Inspection
}

func inspections() []inspectionShare {
	is := func(share int, verdict, coverage, robots, indexing, fetch string) inspectionShare {
		return inspectionShare{share, sites.Inspection{Verdict: verdict, CoverageState: coverage, RobotsState: robots, IndexingState: indexing, FetchState: fetch}}
	}
	const ok, allowed, may = "SUCCESSFUL", "ALLOWED", "INDEXING_ALLOWED"
	return []inspectionShare{
		is(735, "PASS", "Submitted and indexed", allowed, may, ok),
		is(15, "PASS", "Indexed, not submitted in sitemap", allowed, may, ok),
		is(85, "NEUTRAL", "Crawled - currently not indexed", allowed, may, ok),
		is(55, "NEUTRAL", "Discovered - currently not indexed", "", "", ""),
		is(22, "NEUTRAL", "Excluded by ‘noindex’ tag", allowed, "BLOCKED_BY_META_TAG", ok),
		is(20, "NEUTRAL", "Duplicate, Google chose different canonical than user", allowed, may, ok),
		is(14, "NEUTRAL", "Alternate page with proper canonical tag", allowed, may, ok),
		is(14, "NEUTRAL", "Page with redirect", allowed, may, ok),
		is(12, "FAIL", "Soft 404", allowed, may, "SOFT_404"),
		is(10, "NEUTRAL", "URL is unknown to Google", "", "", ""),
		is(8, "FAIL", "Server error (5xx)", allowed, may, "SERVER_ERROR"),
		is(6, "FAIL", "Blocked by robots.txt", "DISALLOWED", "", "BLOCKED_ROBOTS_TXT"),
		is(4, "NEUTRAL", "Indexed, though blocked by robots.txt", "DISALLOWED", "", "BLOCKED_ROBOTS_TXT"),
	}
}

var notFound = sites.Inspection{Verdict: "FAIL", CoverageState: "Not found (404)", RobotsState: "ALLOWED", IndexingState: "INDEXING_ALLOWED", FetchState: "NOT_FOUND"}

var refusals = []struct{ cause, text string }{
	{sites.CauseNotOwner, "Google refused the request: the service account is not an owner of the property. Add it as an owner in Search Console."},
	{sites.CauseNoAnswer, lostAnswer},
	{sites.CauseRefused, "Google refused the request: the URL is not valid."},
}

// setPages sets the state of the pages of a website and returns them.
func (m *siteMaker) setPages(ctx context.Context, w sites.Website, s siteSpec) (pages []sites.Page, err error) {
	if err := m.db.Read(ctx).Where("website_seq = ?", w.Seq).Order("seq").Find(&pages).Error; err != nil {
		return nil, err
	}
	rows := models.NewRows(`seq bigint, status text, cause text, queued_for_google boolean, queued_for_indexnow boolean, unverified boolean, last_submitted_at bigint, last_verified_at bigint,
		last_error text, verdict text, coverage_state text, robots_state text, indexing_state text, fetch_state text, google_canonical text, user_canonical text,
		last_crawled_at bigint, notified_at bigint`)
	states := inspections()
	for i := range pages {
		p := &pages[i]
		m.setPageState(p, s, states)
		rows.Add(p.Seq, p.Status, p.Cause, p.QueuedForGoogle, p.QueuedForIndexNow, p.Unverified, p.LastSubmittedAt, p.LastVerifiedAt,
			p.LastError, p.Verdict, p.CoverageState, p.RobotsState, p.IndexingState, p.FetchState, p.GoogleCanonical, p.UserCanonical, p.LastCrawledAt, p.NotifiedAt)
	}
	err = m.db.Write(ctx, func(tx *gorm.DB) error {
		err := rows.Exec(tx, `UPDATE pages SET status = r.status, cause = r.cause, queued_for_google = r.queued_for_google, queued_for_indexnow = r.queued_for_indexnow, unverified = r.unverified,
				last_submitted_at = r.last_submitted_at, last_verified_at = r.last_verified_at, verify_attempted_at = r.last_verified_at, last_error = r.last_error,
				verdict = r.verdict, coverage_state = r.coverage_state, robots_state = r.robots_state, indexing_state = r.indexing_state, fetch_state = r.fetch_state,
				google_canonical = r.google_canonical, user_canonical = r.user_canonical, last_crawled_at = r.last_crawled_at, notified_at = r.notified_at
			FROM {rows} AS r WHERE pages.seq = r.seq`).Error
		if err == nil {
			err = tx.Exec("DELETE FROM page_counts WHERE website_seq = ?", w.Seq).Error
		}
		if err != nil {
			return err
		}
		return tx.Exec(`INSERT INTO page_counts (website_seq, status, cause, pages)
			SELECT website_seq, status, cause, count(*) FROM pages WHERE website_seq = ? GROUP BY website_seq, status, cause`, w.Seq).Error
	})
	return pages, err
}

// setPageState sets the state of a page: new pages are queued or just submitted, a few were refused, and the rest was verified.
func (m *siteMaker) setPageState(p *sites.Page, s siteSpec, states []inspectionShare) {
	ago := func(least, most time.Duration) models.Time {
		return models.At(m.now.Add(-least - time.Duration(m.rand.Float64()*float64(most-least))))
	}
	p.QueuedForGoogle, p.QueuedForIndexNow, p.Unverified = false, false, true
	submitted := siteHistory // maximum age
	if recent := m.now.Sub(p.CreatedAt.Time) < siteHistory/2; recent {
		submitted = 5 * day
		if m.rand.IntN(3) > 0 {
			p.Status, p.QueuedForGoogle, p.QueuedForIndexNow, p.Unverified = sites.Pending, s.google, s.indexNow && m.rand.IntN(4) == 0, false
			return
		}
	}
	changed := m.now.Sub(p.Lastmod.Time) // changed pages are submitted again
	p.Status, p.LastSubmittedAt = sites.Submitted, ago(min(6*time.Hour, changed/2), min(submitted, changed))
	switch {
	case !s.google || submitted < siteHistory && m.rand.IntN(2) == 0: // not verified
		return
	case s.indexing && m.rand.IntN(25) == 0:
		r := refusals[m.rand.IntN(len(refusals))]
		p.Status, p.Cause, p.LastError, p.LastSubmittedAt, p.Unverified = sites.Failed, r.cause, r.text, models.Time{}, false
		return
	}
	if s.indexing {
		p.NotifiedAt = p.LastSubmittedAt.Add(2 * time.Second)
	}
	p.Inspection = m.inspection(p.URL, states)
	age := m.now.Sub(p.LastSubmittedAt.Time)
	p.Unverified, p.LastVerifiedAt = false, ago(min(30*time.Minute, age/2), min(5*time.Hour, age))
	p.Status, p.Cause = p.Inspection.Status(), sites.CauseOf(p.Inspection)
	if p.FetchState != "" {
		p.LastCrawledAt = ago(7*time.Hour, 20*day)
	}
}

// inspection returns an inspection result for a page. The crawls of the demo find no page at 7.
func (m *siteMaker) inspection(url string, states []inspectionShare) sites.Inspection {
	if strings.HasSuffix(url, "/7") {
		return notFound
	}
	n, i := m.rand.IntN(1000), 0
	for ; i < len(states)-1 && n >= states[i].share; i++ {
		n -= states[i].share
	}
	found := states[i].Inspection
	if found.FetchState != "" {
		found.GoogleCanonical, found.UserCanonical = url, url
	}
	other := url[:strings.LastIndexByte(url, '/')+1]
	switch sites.CauseOf(found) {
	case sites.CauseGoogleCanonical:
		found.GoogleCanonical = other
	case sites.CauseAlternate:
		found.GoogleCanonical, found.UserCanonical = other, other
	}
	return found
}

// coverage creates the coverage by day: a growing number of indexed pages up to the current state.
func (m *siteMaker) coverage(tx *gorm.DB, w sites.Website, made []sites.Page) error {
	now, old := map[sites.Status]int{}, 0
	for _, p := range made {
		now[p.Status]++
		if m.now.Sub(p.CreatedAt.Time) > siteHistory/2 {
			old++
		}
	}
	rows := models.NewRows("day_at bigint, status text, pages bigint")
	days := int(siteHistory / day)
	for d := range days {
		at := models.At(m.now.Add(-time.Duration(days-d) * day)).StartOfDay()
		left, grown := old, float64(d+1)/float64(days)
		if time.Duration(days-d)*day <= grownAt {
			left = len(made)
		}
		for _, s := range []sites.Status{sites.Indexed, sites.NotIndexed, sites.Failed, sites.Submitted} {
			share := grown * (1 - 0.1*m.rand.Float64()*(1-grown))
			if s == sites.NotIndexed || s == sites.Failed { // these come first
				share = min(1, 4*grown) * (1 + 0.3*(1-grown))
			}
			n := min(left, int(share*float64(now[s])))
			rows.Add(at, s, n)
			left -= n
		}
		rows.Add(at, sites.Pending, left)
	}
	return rows.Exec(tx, "INSERT INTO coverage_days (website_seq, day_at, status, pages) SELECT ?, r.day_at, r.status, r.pages FROM {rows} AS r", w.Seq).Error
}

func (m *siteMaker) submissions(w sites.Website, s siteSpec, made []sites.Page) (all []sites.Submission) {
	add := func(at time.Time, sub sites.Submission) {
		sub.WebsiteSeq, sub.Action, sub.CreatedAt = w.Seq, sites.Updated, models.At(at)
		switch n := m.rand.IntN(30); {
		case n == 0 && sub.Method != sites.ByIndexNow: // the response was lost
			sub.Status, sub.Error = sites.Sent, lostAnswer
		case n == 1:
			sub.Status, sub.StatusCode, sub.Error = sites.Retried, 429, "Too many requests. Linkwatch retries later."
		case n == 2 && sub.Method != sites.BySitemap:
			sub.Status, sub.StatusCode, sub.Error = sites.Refused, 403, "The request was refused. Check the credentials and the key of the website."
		default:
			sub.Status, sub.StatusCode = sites.Accepted, 200
		}
		if sub.Status != sites.Sent {
			sub.AnsweredAt = sub.CreatedAt.Add(time.Duration(80+m.rand.IntN(900)) * time.Millisecond)
		}
		all = append(all, sub)
	}
	days := int(siteHistory / day)
	for d := days; d > 0; d-- {
		at := m.now.Add(-time.Duration(d)*day + time.Duration(m.rand.IntN(600))*time.Minute)
		if s.google && !s.indexing && d%3 == 0 {
			add(at, sites.Submission{URL: w.Property().Root() + "sitemap.xml", Method: sites.BySitemap, Pages: len(made) - d})
		}
		if s.indexNow && d%2 == 0 {
			add(at.Add(time.Minute), sites.Submission{Method: sites.ByIndexNow, Pages: 4 + m.rand.IntN(len(made)/8)})
		}
		for i := days - d; s.indexing && i < len(made); i += days {
			add(at.Add(time.Duration(i)*time.Second), sites.Submission{PageSeq: &made[i].Seq, URL: made[i].URL, Method: sites.ByIndexingAPI, Pages: 1})
		}
	}
	if s.google && !s.indexing { // matches sitemaps.submitted_at
		at := m.now.Add(-submittedAgo)
		all = append(all, sites.Submission{
			WebsiteSeq: w.Seq, URL: w.Property().Root() + "sitemap.xml", Method: sites.BySitemap, Action: sites.Updated, Pages: len(made),
			Status: sites.Accepted, StatusCode: 200, CreatedAt: models.At(at), AnsweredAt: models.At(at.Add(400 * time.Millisecond)),
		})
	}
	return all
}
