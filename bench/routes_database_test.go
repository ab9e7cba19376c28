//go:build e2e

package bench

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"linkwatch/e2e"
	"linkwatch/models"
	"linkwatch/models/accounts"
	"linkwatch/models/crawl"
	"linkwatch/models/links"
	"linkwatch/models/targets"
)

// fillRoutes fills an empty database with n rows of each system's main tables. Most items are healthy, some fail, one in
// fifty is private to alice or bob. The first target, website, source and execution have a large share of the rows.
func fillRoutes(t *testing.T, store string, n int) {
	t.Helper()
	addRules(t, store)
	db, closeDB := e2e.OpenDatabase(t, store)
	defer closeDB()
	walker := accounts.NewStore(db, time.Now, accounts.Options{})
	for name, role := range map[string]accounts.Role{"root": accounts.Admin, "alice": accounts.Editor, "bob": accounts.Editor} {
		if _, err := walker.Add(t.Context(), accounts.NewUser{Username: name, Role: role, Issuer: "i", Subject: name}); err != nil {
			t.Fatal(err)
		}
	}
	fillLinks(t, db, n)
	text := newSeries(t, db, n)
	for _, sql := range routeTables {
		started := time.Now()
		if err := db.Write(t.Context(), func(tx *gorm.DB) error { return tx.Exec(text(sql)).Error }); err != nil {
			t.Fatalf("%v in %s", err, text(sql))
		}
		t.Logf("%5.1f s %.60s", time.Since(started).Seconds(), sql)
	}
	if db.Engine == models.Postgres { // autovacuum does this within minutes in production
		if err := db.Read(t.Context()).Exec("VACUUM ANALYZE").Error; err != nil {
			t.Fatal(err)
		}
	}
}

// addRules adds channels, alert rules and maintenance windows through the API, which encrypts the secrets of channels.
func addRules(t *testing.T, store string) {
	t.Helper()
	s := e2e.Start(t, "DATABASE_URL="+store, routesKey)
	defer s.Stop()
	add := func(path string, body map[string]any) (id string) {
		t.Helper()
		var added struct{ ID string }
		if status := s.Call("POST", path, body, &added); status != http.StatusCreated {
			t.Fatalf("POST %s: status %d", path, status)
		}
		return added.ID
	}
	for i := range 50 {
		name := fmt.Sprint("number ", i)
		channel := add("/v1/channels", map[string]any{"name": name, "kind": "webhook", "url": "http://127.0.0.1:9/", "secret": "a secret for benchmarks", "enabled": false})
		add("/v1/alert-rules", map[string]any{"name": name, "events": []string{"target.down", "target.up"}, "channels": []string{channel}})
		start := time.Now().Add(time.Duration(i+1) * 24 * time.Hour)
		add("/v1/maintenance", map[string]any{"name": name, "starts_at": start, "ends_at": start.Add(time.Hour), "tags": []string{name}})
	}
}

// fillLinks stores links with tags.
func fillLinks(t *testing.T, db *models.DB, n int) {
	t.Helper()
	c := newCorpus()
	store := links.NewStore(db, nil, nil, links.Options{CheckInterval: 30 * models.Day})
	for at, size := 0, min(n, 100_000); at < n; at += size {
		all := make([]links.New, size)
		for i := range all {
			all[i] = c.link(at + i)
			all[i].Owner, all[i].Private = []string{"alice", "bob"}[i/50%2], i%50 == 0
		}
		if stored, err := store.Import(t.Context(), all); err != nil || stored != size {
			t.Fatalf("got %d links stored, %v", stored, err)
		}
	}
}

// newSeries returns a function that completes a statement for the engine. It replaces
//   - {series}, {series/10} and {series 100} with a table n of the numbers i from 1 to the number of rows, to a part of it, or to 100,
//   - {n} and {n/10} with the number of rows, or with a part of it, at least 1,
//   - {id t} with the id of row i with the prefix t,
//   - {hash} with 16 bytes that differ in each row,
//   - {at} with a time within the last 20 days that grows with i, {now} and {day} with the time and the length of a day,
//   - {private} and {owner} with the values of these columns,
//   - {bytes 0801} with bytes, {recent} with the last checks of a target, and {text} with a compressed text.
func newSeries(t *testing.T, db *models.DB, n int) func(sql string) string {
	t.Helper()
	now := models.At(time.Now())
	checks := make(targets.RecentChecks, targets.MaxRecentChecks)
	for i := range checks {
		checks[i] = targets.RecentCheck{At: now.Add(time.Duration(i-len(checks)) * time.Minute), LatencyMS: 100 + i}
	}
	recent, err := checks.Value()
	if err != nil {
		t.Fatal(err)
	}
	bytes := func(digits string) string {
		if db.Engine == models.Postgres {
			return `'\x` + digits + `'::bytea`
		}
		return "x'" + digits + "'"
	}
	part := func(of string) int {
		_, by, _ := strings.Cut(of, "/")
		divisor, err := strconv.Atoi(by)
		if err != nil {
			divisor = 1
		}
		return max(1, n/divisor)
	}
	step := (20 * models.Day).Microseconds() / int64(n)
	return func(sql string) string {
		return regexp.MustCompile(`\{[a-z]+(/\d+)?( \w+)?\}`).ReplaceAllStringFunc(sql, func(found string) string {
			name, arg, _ := strings.Cut(strings.Trim(found, "{}"), " ")
			switch before, _, _ := strings.Cut(name, "/"); before {
			case "series":
				last := cmp.Or(arg, strconv.Itoa(part(name)))
				if db.Engine == models.Postgres {
					return "generate_series(CAST(1 AS bigint), " + last + ") AS n(i)"
				}
				return "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " + last + ") SELECT i FROM n) AS n"
			case "n":
				return strconv.Itoa(part(name))
			case "id":
				return "'" + arg + "_000000000000' || (1000000000 + i)" // 22 digits of base62
			case "hash":
				if db.Engine == models.Postgres {
					return "decode(lpad(to_hex(i), 32, '0'), 'hex')"
				}
				return "unhex(printf('%032x', i))"
			case "at":
				return fmt.Sprintf("(%d + i * %d)", now.Add(-20*models.Day).UnixMicro(), step)
			case "now":
				return strconv.FormatInt(now.UnixMicro(), 10)
			case "day":
				return strconv.FormatInt(models.Day.Microseconds(), 10)
			case "private":
				return "CASE i % 100 WHEN 1 THEN 'alice' WHEN 51 THEN 'bob' ELSE '' END"
			case "owner":
				return "CASE WHEN i % 100 > 50 THEN 'bob' ELSE 'alice' END"
			case "bytes":
				return bytes(arg)
			case "recent":
				return bytes(hex.EncodeToString(recent.([]byte)))
			case "text":
				return bytes(hex.EncodeToString(crawl.CompressText(strings.Repeat("A page about solar panels and heat pumps. ", 20))))
			case "index":
				if db.Engine == models.Postgres {
					return fmt.Sprintf("page_index (page_seq, words) SELECT i, to_tsvector('simple', 'solar page w' || (i %% %d)) || array_to_tsvector(ARRAY[chr(57347) || 'b' || (i >> 12)])", part("n/100"))
				}
				return fmt.Sprintf("page_index (rowid, words) SELECT %d - i, 'solar page w' || (i %% %d)", 1<<35-1, part("n/100"))
			}
			t.Fatalf("unknown %s", found)
			return ""
		})
	}
}

// routeTables are the statements of fillRoutes. Times that end something are in the future, so that no job has work to do.
var routeTables = []string{
	`UPDATE links SET health = CASE WHEN seq % 100 = 1 THEN 'dead' WHEN seq % 50 = 2 THEN 'suspect' WHEN seq % 50 = 3 THEN 'moved' ELSE 'ok' END,
		health_changed_at = created_at + seq, last_checked_at = created_at, next_check_at = {now} + {day} * 30`,
	`INSERT INTO link_refreshes (id, total, failed, created_at, created_by) SELECT {id b}, 100, 1, {at}, 'alice' FROM {series/1000}`,

	// Accounts.
	`INSERT INTO users (id, username, role, disabled, password_hash, totp_step, oidc_issuer, oidc_subject, created_at, updated_at, last_login_at)
		SELECT {id u}, 'user-' || i, CASE WHEN i % 3 = 0 THEN 'viewer' ELSE 'editor' END, i % 100 = 1, '', 0, 'i', 'user-' || i, {at}, {at}, {at} FROM {series}`,
	`INSERT INTO tokens (id, user_seq, name, secret_hash, scopes, created_at) SELECT {id y}, 1 + i / 90, 'token ' || i, {hash}, '["read"]', {at} FROM {series}`,
	`INSERT INTO sessions (secret_hash, id, user_seq, method, address, device, created_at, last_seen_at, expires_at)
		SELECT {hash}, {id s}, 1 + i / 20, 'password', '192.0.2.1', 'Firefox on Linux', {at}, {now}, {now} + {day} * 30 FROM {series}`,
	`INSERT INTO audit_entries (at, actor_id, actor, via, credential, address, request_id, action, subject_kind, subject_id, subject_name, before, after, attempts)
		SELECT {at}, {id u}, CASE WHEN i % {n/100} = 1 THEN 'rare' ELSE 'user-' || (i % 50) END, 'session', '', '192.0.2.' || (i % 200), 'request-' || i,
			CASE i % 4 WHEN 0 THEN 'target.edit' WHEN 1 THEN 'target.add' WHEN 2 THEN 'link.add' ELSE 'shortlink.delete' END, 'target', {id t}, 'Shop ' || i, '{"name":"Old"}', '{"name":"New"}', 1
		FROM {series}`,

	// Watch.
	`INSERT INTO targets (id, url, canonical_url, host, name, search_text, interval_seconds, expect_status, expect_keyword, expect_absent, expect_latency_ms, paused,
			created_at, updated_at, deleted_at, state, state_since, last_checked_at, last_status_code, last_latency_ms, last_error, failures,
			tls_expires_at, known_until, recent_checks, hour_bucket_start, hour_checks, hour_up_us, hour_down_us, hour_latency,
			day_bucket_start, day_checks, day_up_us, day_down_us, day_latency, owner, private_to)
		SELECT {id t}, 'https://host-' || (i % {n/200}) || '.example/page-' || i, 'https://host-' || (i % {n/200}) || '.example/page-' || i, 'host-' || (i % {n/200}) || '.example', 'Shop ' || i,
			'shop ' || i || ' https://host-' || (i % {n/200}) || '.example/page-' || i, 2592000, '', '', '', 0, i % 50 = 4, {at}, {at}, CASE WHEN i % 1000 = 7 THEN {now} END,
			CASE WHEN i % 100 = 2 THEN 'down' WHEN i % 100 = 3 THEN 'pending' ELSE 'up' END, {at}, CASE WHEN i % 100 <> 3 THEN {now} END, 200, 100 + i % 50,
			CASE WHEN i % 100 = 2 THEN 'timed out' ELSE '' END, CASE WHEN i % 100 = 2 THEN 3 ELSE 0 END, CASE WHEN i % 200 = 5 THEN {now} + {day} * 3 ELSE {now} + {day} * 60 END, CASE WHEN i % 100 <> 3 THEN {now} END,
			{recent}, {now} / 3600000000 * 3600000000, 10, 600000000, 0, {bytes 0801}, {now} / {day} * {day}, 100, 6000000000, 0, {bytes 0801}, {owner}, {private}
		FROM {series}`,
	`INSERT INTO target_schedule (target_seq, due_at, next_check_at)
		SELECT seq, {now} + {day} * 30 + seq, {now} + {day} * 30 + seq FROM targets WHERE NOT paused AND deleted_at IS NULL ON CONFLICT DO NOTHING`,
	`INSERT INTO check_results (target_seq, checked_at, outcome, status_code, latency_ms, attempts, error, interval_ms)
		SELECT CASE WHEN i % 5 = 0 THEN 2 ELSE 3 + i % {n/50} END, {at}, CASE WHEN i % 100 = 1 THEN 1 ELSE 0 END, 200, 100 + i % 50, 1, CASE WHEN i % 100 = 1 THEN 'timed out' ELSE '' END, 60000
		FROM {series}`,
	// Targets 2 to 101 have a long history, the others a short one.
	`INSERT INTO target_hours (target_seq, bucket_start, checks, up_us, down_us, latency)
		SELECT 2 + (i - 1) / 90, {now} / 3600000000 * 3600000000 - (1 + i % 90) * 3600000000, 60, 3600000000, 0, {bytes 083c} FROM {series 9000}`,
	`INSERT INTO target_hours (target_seq, bucket_start, checks, up_us, down_us, latency)
		SELECT 102 + (i - 1) / 10, {now} / 3600000000 * 3600000000 - (1 + i % 10) * 3600000000, 60, 3600000000, 0, {bytes 083c} FROM {series}`,
	`INSERT INTO target_days (target_seq, bucket_start, checks, up_us, down_us, latency)
		SELECT 2 + (i - 1) / 90, {now} / {day} * {day} - (1 + i % 90) * {day}, 1440, {day}, 0, {bytes 083c} FROM {series 9000}`,
	`INSERT INTO target_days (target_seq, bucket_start, checks, up_us, down_us, latency)
		SELECT 102 + (i - 1) / 10, {now} / {day} * {day} - (1 + i % 10) * {day}, 1440, {day}, 0, {bytes 083c} FROM {series}`,
	`INSERT INTO outages (id, target_seq, started_at, ended_at, cause)
		SELECT {id o}, CASE WHEN i % 50 = 0 THEN 2 ELSE 2 + i % {n/10} END, {at}, {at} + 600000000, 'timed out' FROM {series}`,
	`INSERT INTO outages (id, target_seq, started_at, cause) SELECT 'o_100000000000' || (1000000000 + seq), seq, state_since, 'timed out' FROM targets WHERE state = 'down' AND deleted_at IS NULL`,
	`INSERT INTO status_pages (id, slug, title, description, created_at, updated_at) SELECT {id h}, 'page-' || i, 'Page ' || i, '', {at}, {at} FROM {series 100}`,
	`INSERT INTO status_page_targets (page_id, target_seq, position)
		SELECT p.id, 1 + n.i, n.i FROM status_pages AS p CROSS JOIN {series 100}`,

	// Short links.
	`INSERT INTO short_links (short_key, long_url, canonical_url, title, search_text, max_visits, disabled, created_at, updated_at, version, expires_at, visits, bots, owner, private_to)
		SELECT 's' || (10000000 + i), 'https://shop-' || (i % {n/200}) || '.example/spring/' || i, 'https://shop-' || (i % {n/200}) || '.example/spring/' || i, 'Spring ' || i,
			's' || (10000000 + i) || ' spring ' || i || ' https://shop-' || (i % {n/200}) || '.example/spring/' || i, 0, i % 100 = 2, {at}, {at}, i,
			CASE WHEN i % 50 = 3 THEN {now} + i ELSE {now} + {day} * 365 + i END, i % 1000, 0, {owner}, {private}
		FROM {series}`,
	`UPDATE short_link_version SET newest = {n}`,
	`INSERT INTO short_link_days (short_link_seq, bucket_start, bots, desktop, mobile, tablet, other)
		SELECT 4 + i / 390, {now} / {day} * {day} - (i % 390) * {day}, 1, 10, 10, 1, 0 FROM {series}`,
	`INSERT INTO short_link_referrers (short_link_seq, host, visits) SELECT 4 + i / 200, 'news-' || (i % 200) || '.example', 1 + i % 100 FROM {series}`,

	// Crawl.
	`INSERT INTO sources (id, external_id, name, url, host, search_text, enabled, max_depth, allowed_domains, rate_limit_ms, interval_count, interval_type, created_at, updated_at, owner, private_to)
		SELECT {id s}, '', 'Source ' || i, 'https://site-' || i || '.example/', 'site-' || i || '.example', 'source ' || i || ' https://site-' || i || '.example/', i % 10 <> 1, 0, '', 1000, 0, 'days', {at}, {at}, {owner}, {private}
		FROM {series}`,
	`INSERT INTO jobs (id, source_seq, url, status, interval_count, interval_type, interval_seconds, adaptive_scheduling, source_disabled, next_run_at, planned_at, max_retries, retry_backoff_seconds,
			current_retry_count, metadata, executions, content_hash, unchanged_count, last_error, created_at, updated_at)
		SELECT {id j}, i, 'https://site-' || i || '.example/', status, 7, 'days', 604800, false, i % 10 = 1, CASE WHEN status = 'scheduled' THEN {now} + {day} * 30 + i * {day} / {n} END,
			CASE WHEN status = 'scheduled' THEN {now} + {day} * 30 + i * {day} / {n} END, 3, 60, 0, '{}', 1, '', 0, CASE WHEN status = 'failed' THEN 'timed out' ELSE '' END, {at}, {at}
		FROM (SELECT i, CASE WHEN i % 100 = 2 THEN 'failed' WHEN i % 10 = 3 THEN 'completed' WHEN i % 100 = 4 THEN 'paused' WHEN i % 200 = 5 THEN 'cancelled' ELSE 'scheduled' END AS status FROM {series}) AS n`,
	`INSERT INTO job_executions (id, job_seq, execution_number, status, lock_token, crawl_seq, url, started_at, completed_at, progress_at, retry_attempt, items_crawled, items_indexed, queued, fetched, failed,
			error_message, stack_trace, cpu_time_us, memory_peak_mb, start_hash, start_error, log_lines, log_bytes, metadata, has_frontier, pages_new, pages_changed, pages_gone, broken_links)
		SELECT {id e}, 2 + i % {n/90}, 1 + i / {n/90}, CASE WHEN i % 100 = 2 THEN 'failed' ELSE 'completed' END, '', i, 'https://site-1.example/', {at}, {at} + 60000000, {at} + 60000000, 0, 100, 100, 0, 100, 2,
			CASE WHEN i % 100 = 2 THEN 'timed out' ELSE '' END, '', 1000000, 50, '', '', 100, 10000, '{}', false, 5, 5, 1, 2 FROM {series}`,
	`UPDATE jobs SET executions = (SELECT max(execution_number) FROM job_executions WHERE job_seq = jobs.seq) WHERE seq BETWEEN 2 AND 1 + {n/90}`,
	`UPDATE jobs SET crawl_seq = {n} WHERE seq = (SELECT job_seq FROM job_executions WHERE seq = {n})`, // an interrupted crawl with pending entries
	`INSERT INTO job_logs (execution_seq, first_line, lines, text) SELECT i, 1, 2, 'time=2026-11-20T10:00:00.000Z level=info msg=fetched status=200
time=2026-11-20T10:00:01.000Z level=info msg=fetched status=200
' FROM {series}`,
	`INSERT INTO broken_links (execution_seq, page_seq, found_on, url, text, error, created_at)
		SELECT CASE WHEN i % 5 = 0 THEN {n} ELSE 1 + i % {n/50} END, 1 + i % {n/10}, 'https://site-1.example/p' || i, 'https://gone.example/' || i, 'Gone', 'unexpected status 404', {at} FROM {series}`,
	`INSERT INTO crawl_hosts (host, next_at, claim, delay_ms, failures, slow, last_attempt_at) SELECT 'site-' || i || '.example', {now} + {day} * 30, 1, 1000, 0, false, {at} FROM {series/10}`,
	`INSERT INTO frontier (crawl_seq, source_seq, host_seq, url, url_hash, depth, status, attempts, redirects, last_error, created_at, updated_at)
		SELECT CASE WHEN i % 2 = 0 THEN {n} ELSE 1 + i % {n/50} END, CASE WHEN i % 2 = 0 THEN 2 ELSE 1 + i % {n/50} END, 1 + i % {n/10}, 'https://site-' || (1 + i % {n/10}) || '.example/p' || i, {hash}, i % 4,
			CASE WHEN i % 100 = 3 THEN 'failed' WHEN i % 10 = 0 THEN 'pending' ELSE 'done' END, 1, 0, CASE WHEN i % 100 = 3 THEN 'timed out' ELSE '' END, {at}, {at} FROM {series}`,
	`INSERT INTO discovered_links (source_seq, url, url_hash, text, found_on, created_at)
		SELECT CASE WHEN i % 2 = 0 THEN 2 ELSE 1 + i % {n/50} END, 'https://found-' || (i % {n/200}) || '.example/' || i, {hash}, 'Found ' || i, 'https://site-1.example/', {at} FROM {series}`,
	`INSERT INTO crawled_pages (source_seq, crawl_seq, url, url_hash, status_code, content_type, title, description, language, og_title, og_description, og_image, og_site_name, og_type,
			content_hash, links_found, noindex, etag, last_modified, created_at, fetched_at, changed_at, word_count, versions, text_version, unindexed)
		SELECT CASE WHEN i % 2 = 0 THEN 2 ELSE 1 + i % {n/50} END, {n}, 'https://site-2.example/p' || i, {hash}, CASE WHEN i % 100 = 3 THEN 404 ELSE 200 END, 'text/html', 'Page w' || (i % {n/100}), '', 'en', '', '', '', '', '',
			'h' || i, 30, false, '', '', {at}, {at}, {at}, 160, 2, 2, false FROM {series}`,
	`INSERT INTO page_versions (page_seq, version, change, crawl_seq, status_code, title, content_hash, word_count, text, created_at)
		SELECT 1 + i / 2, 1 + i % 2, CASE WHEN i % 2 = 0 THEN 'new' ELSE 'changed' END, CASE WHEN i % 2 = 0 THEN {n} ELSE 1 + i % {n/50} END, 200, 'Page', 'h' || i, 160, {text}, {at} FROM {series}`,
	`INSERT INTO {index} FROM {series}`,
	`INSERT INTO feeds (source_seq, url, url_hash, title, etag, last_modified, created_at, last_polled_at, read_at, next_poll_at, failures, last_error, entries_found)
		SELECT CASE WHEN i % 10 = 0 THEN 2 ELSE i END, 'https://site-' || i || '.example/feed', {hash}, 'Feed ' || i, '', '', {at}, {now}, {now}, {now} + {day} * 30,
			CASE WHEN i % 100 = 3 THEN 5 ELSE 0 END, CASE WHEN i % 100 = 3 THEN 'timed out' ELSE '' END, 10 FROM {series}`,

	// Sites.
	`INSERT INTO websites (id, name, site_url, indexing_enabled, auto_submit, created_at, updated_at, client_email, project_id, indexing_error, indexing_failures, console_error, console_failures,
			indexnow_error, indexnow_failures, indexnow_key, indexnow_verified_at, robots_read_at, sitemaps_read_at, owner, private_to)
		SELECT {id w}, 'Shop ' || i, 'https://shop-' || i || '.example/', false, false, {at}, {at}, '', '', CASE WHEN i % 100 = 3 THEN 'forbidden' ELSE '' END, 0, '', 0, '', 0, 'key' || (10000000 + i), {now}, {now} + {day} * 30, {now} + {day} * 30,
			{owner}, {private} FROM {series/100}`,
	`INSERT INTO pages (website_seq, url, path_start, lastmod, auto_priority, queue_rank, status, cause, queued_for_google, queued_for_indexnow, attempts, removal, unverified, created_at, last_submitted_at, last_verified_at,
			last_error, gone_at, verdict, coverage_state, robots_state, indexing_state, fetch_state, google_canonical, user_canonical)
		SELECT site, 'https://shop-' || site || '.example/blog/' || i, 24, {at}, 50, i % 100, CASE i % 100 WHEN 2 THEN 'failed' WHEN 3 THEN 'submitted' WHEN 5 THEN 'not_indexed' WHEN 7 THEN 'not_indexed' WHEN 9 THEN 'pending' WHEN 10 THEN 'pending' ELSE 'indexed' END,
			CASE i % 100 WHEN 2 THEN 'server_error' WHEN 5 THEN 'crawled_not_indexed' WHEN 7 THEN 'noindex' ELSE '' END, i % 100 = 9 OR i % 100 = 10, i % 100 = 9 OR i % 100 = 10, 0, false, false, {at}, {at}, {at},
			CASE i % 100 WHEN 2 THEN 'unexpected status 500' ELSE '' END, CASE WHEN i % 200 = 12 THEN {at} END, 'PASS', '', '', '', '', '', ''
		FROM (SELECT i, CASE WHEN i % 4 > 1 THEN 2 ELSE 1 + i % {n/100} END AS site FROM {series}) AS n`,
	`INSERT INTO page_counts (website_seq, status, cause, pages) SELECT website_seq, status, cause, count(*) FROM pages WHERE gone_at IS NULL GROUP BY website_seq, status, cause`,
	`INSERT INTO sitemaps (website_seq, url, origin, depth, kind, pages, skipped, skipped_reasons, etag, last_modified, generation, created_at, last_read_at, changed_at, submit_error, last_error, complete)
		SELECT CASE WHEN i % 5 = 0 AND i <= 100 THEN 2 ELSE i END, 'https://shop.example/sitemap-' || i || '.xml', 'given', 0, 'sitemap', 50000, 0, '', '', '', 1, {at}, {now}, {at}, '', CASE WHEN i % 100 = 3 THEN 'timed out' ELSE '' END, true FROM {series/100}`,
	`INSERT INTO sitemap_pages (sitemap_seq, page_seq, generation) SELECT 1 + i % {n/100}, i, 1 FROM {series}`,
	`INSERT INTO submissions (website_seq, page_seq, url, method, action, pages, status, status_code, error, created_at, answered_at)
		SELECT CASE WHEN i % 2 = 0 THEN 2 ELSE 1 + i % {n/100} END, i, 'https://shop-2.example/blog/' || i, 'indexnow', 'updated', 1, CASE WHEN i % 100 = 3 THEN 'failed' ELSE 'accepted' END, 200, '', {at}, {at} FROM {series}`,
	`INSERT INTO coverage_days (website_seq, day_at, status, pages) SELECT w.seq, {now} / {day} * {day} - n.i * {day}, s.status, 100
		FROM websites AS w CROSS JOIN {series 90} CROSS JOIN (SELECT 'indexed' AS status UNION ALL SELECT 'pending' UNION ALL SELECT 'not_indexed') AS s`,

	// Alerts. Rules, channels and maintenance are added through the API.
	`INSERT INTO alerts (id, ends_id, event, severity, group_key, subject_kind, subject_id, subject_name, subject_url, detail, subject_count, open_subject_count, flapping, changes, created_at, started_at, fired_at,
			resolved_at, acknowledged_at, private_to)
		SELECT {id v}, '', 'target.down', i % 3, 'group-' || i, 'target', {id t}, 'Shop ' || i, 'https://shop-' || i || '.example/', 'timed out', 1, CASE WHEN i % 100 = 2 THEN 1 ELSE 0 END, false, 1, {at}, {at}, {at},
			CASE WHEN i % 100 <> 2 THEN {at} + 600000000 END, CASE WHEN i % 300 = 2 THEN {at} END, {private} FROM {series}`,
	`INSERT INTO alert_subjects (alert_seq, subject_id, event, subject_kind, name, url, detail, since_at, ended_at)
		SELECT i, {id t}, 'target.down', 'target', 'Shop ' || i, 'https://shop-' || i || '.example/', 'timed out', {at}, CASE WHEN i % 100 <> 2 THEN {at} + 600000000 END FROM {series}`,
	`INSERT INTO alert_notices (alert_seq, rule_seq, notified_at, severity) SELECT i, r.seq, {at}, 2 FROM {series} JOIN alert_rules AS r ON r.seq = 1 + i % 50`,
	`INSERT INTO deliveries (id, alert_seq, channel_seq, reason, status, body, created_at, delivered_at, attempts, last_error)
		SELECT {id y}, i, c.seq, 'fired', CASE WHEN i % 1000 = 3 THEN 'failed' ELSE 'delivered' END, '{}', {at}, {at}, 1, '' FROM {series} JOIN channels AS c ON c.seq = 1 + i % 50`,

	// Administration.
	`INSERT INTO job_runs (id, job_id, started_at, duration_ns, "trigger", summary, error)
		SELECT {id r}, j.id, {at}, 1000000, 'schedule', 'deleted 10 rows', '' FROM {series 100} CROSS JOIN (SELECT min(id) AS id FROM scheduled_jobs) AS j`, // more are not kept
	`INSERT INTO cleanup_runs (started_at, kind, duration_ns, cleaned, error) SELECT {at}, 'short_link', 1000000, 10, '' FROM {series 100}`,
}
