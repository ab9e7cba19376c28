package admin_test

import (
	"time"

	"linkwatch/app/apptest"
	"linkwatch/models/cleanup"
	"linkwatch/models/modelstest"
	"linkwatch/models/schedule"
)

// The kinds of rows that the reaper deletes.
const (
	shortLinks      = "short_links"
	archivedLinks   = "archived_short_links"
	visitDays       = "visit_days"
	frontier        = "frontier"
	executions      = "job_executions"
	discovered      = "discovered_links"
	hosts           = "crawl_hosts"
	crawledPages    = "crawled_pages"
	submissions     = "submissions"
	coverageDays    = "coverage_days"
	quotaDays       = "quota_days"
	sitePages       = "pages"
	alerts          = "alerts"
	alertSettings   = "alert_settings"
	websites        = "websites"
	archivedPages   = "archived_pages"
	feedEntries     = "feed_entries"
	sources         = "sources"
	checkResults    = "check_results"
	outages         = "outages"
	targets         = "targets"
	tags            = "tags"
	linkChanges     = "link_changes"
	linkRefreshes   = "link_refreshes"
	linkWords       = "link_words"
	idempotencyKeys = "idempotency_keys"
)

// kinds has all kinds in the order of a run.
var kinds = []string{shortLinks, archivedLinks, visitDays, "sessions", "used_logins", "tokens", "accounts", "audit_entries", alerts, alertSettings, submissions, coverageDays, quotaDays, sitePages, websites, frontier, executions, discovered, hosts, crawledPages, archivedPages, feedEntries, sources, checkResults, outages, targets, tags, linkChanges, linkRefreshes, linkWords, idempotencyKeys}

func inAnHour(now time.Time) time.Time { return now.Add(time.Hour) }

// declareReaper schedules the reaper, as the server does.
func declareReaper(a *apptest.App) {
	a.Helper()
	job := schedule.Job{ID: cleanup.Job, Schedule: "@every 15m0s", NextRunAt: a.Cleanup.Now().Add(15 * time.Minute)}
	if err := a.Jobs.Declare(a.Context(), job); err != nil {
		a.Fatal(err)
	}
}

// ended adds n short links that expired two hours ago.
func ended(a *apptest.App, n int) {
	a.Helper()
	modelstest.Exec(a.TB, a.DB, `WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < ?)
		INSERT INTO short_links (short_key, long_url, canonical_url, title, search_text, max_visits, disabled, created_at, updated_at, expires_at, visits, bots)
		SELECT 'ended' || id, 'https://a.test', 'https://a.test', '', '', 0, FALSE, 1, 1, CAST(? AS BIGINT), 0, 0 FROM n`,
		n, a.ShortLinks.Now().Add(-2*time.Hour))
}
