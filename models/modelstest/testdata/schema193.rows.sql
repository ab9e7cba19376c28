-- Rows of all systems, for both engines.
INSERT INTO instances (id, started_at, heartbeat_at) VALUES ('i_1', 1, 2);
INSERT INTO scheduled_jobs (id, schedule, run_id, claimed_by, requested_at, requested_by)
VALUES ('backup', '@hourly', 'r_4', 'i_1', 7, 'start');
INSERT INTO job_runs (id, job_id, started_at, duration_ns, "trigger", summary, error) VALUES
  ('r_1', 'backup', 1, 2, 'schedule', 'done', ''), ('r_2', 'backup', 2, 2, 'manual', 'done', ''),
  ('r_3', 'backup', 3, 2, 'start', '', 'disk full');
INSERT INTO idempotency_keys (scope, key, resource_id, created_at) VALUES ('link', 'k', 'l_1', 1);
INSERT INTO events (kind, phase, severity, subject_kind, subject_id, name, url, host, since_at, at, failures, detail)
VALUES ('target.down', 'began', 2, 'target', 't_1', 'Home', 'http://a.test/', 'a.test', 1, 2, 3, 'timed out');

INSERT INTO links (id, url, canonical_url, title, own_title, fetched_title, og_title, og_description, og_image,
  og_site_name,
  og_type, owner, notes, created_at, updated_at, expired_at, view_count, health, health_changed_at, last_status_code,
  last_error, moved_to, failures, claimed_by, private_to, fetched_description)
VALUES ('l_1', 'http://a.test', 'http://a.test/', 'A', '', 'A', '', '', '', '', '', 'bob', 'Notes', 1, 2, NULL, 3,
  'ok', 1, 200,
    '', '', 0, 'i_1', '', 'About A'),
  ('l_2', 'http://a.test', 'http://a.test/', 'B', 'B', 'A', '', '', '', '', '', 'bob', '', 1, 2, 5, 0, 'dead', 1, 404,
    'not found', '', 3, NULL, 'bob', ''),
  ('l_3', 'http://c.test', 'http://c.test/', 'C', '', '', '', '', '', '', '', 'system', '', 1, 2, NULL, 0,
  'unchecked', 1, 0,
    '', '', 0, NULL, '', '');
DELETE FROM links WHERE id = 'l_3'; -- its key must not be used again
INSERT INTO tags (id, name, folded_name, link_count, created_at, last_used_at) VALUES ('g_1', 'Go', 'go', 1, 1, 1);
INSERT INTO link_tags (link_seq, tag_seq, position) SELECT l.seq, g.seq, 0 FROM links AS l CROSS JOIN tags AS g;
INSERT INTO tag_scopes (tag_seq, private_to, links, link_count, created_at, last_used_at)
SELECT seq, '', 1, 1, 1, 1 FROM tags;
INSERT INTO link_docs (link_seq, title, url, tags, marks) SELECT seq, 'a', 'a.test', 'go', 'ok'
  FROM links WHERE id = 'l_1';
INSERT INTO link_reindex (link_seq) SELECT seq FROM links WHERE id = 'l_2';
INSERT INTO link_changes (id, action, links, before, created_at, created_by) VALUES ('c_1', 'expire', 1, '[]', 1,
  'bob');

INSERT INTO targets (id, url, canonical_url, host, name, search_text, interval_seconds, expect_status, expect_keyword,
  expect_absent, expect_latency_ms, paused, created_at, updated_at, deleted_at, state, state_since, last_status_code,
  last_latency_ms, last_error, failures, recent_checks, hour_checks, hour_up_us, hour_down_us, hour_latency, day_checks,
  day_up_us, day_down_us, day_latency, private_to)
VALUES ('t_1', 'http://a.test', 'http://a.test/', 'a.test', 'Home', 'home a.test', 60, '', '', '', 0, false, 1, 1,
  NULL, 'down', 1,
    500, 3, 'status 500', 3, '', 1, 0, 1, '', 1, 0, 1, '', ''),
  ('t_2', 'http://b.test', 'http://b.test/', 'b.test', '', 'b.test', 0, '', '', '', 0, true, 1, 1, NULL, 'pending', 1,
  0, 0, '',
    0, '', 0, 0, 0, '', 0, 0, 0, '', 'bob');
INSERT INTO target_schedule (target_seq, due_at, next_check_at) SELECT seq, 1, 1 FROM targets WHERE id = 't_1';
INSERT INTO check_results (target_seq, checked_at, outcome, status_code, latency_ms, attempts, error, interval_ms)
SELECT seq, 1, 1, 500, 3, 1, 'status 500', 60000 FROM targets WHERE id = 't_1';
INSERT INTO outages (id, target_seq, started_at, cause) SELECT 'o_1', seq, 1, 'status 500'
  FROM targets WHERE id = 't_1';

INSERT INTO short_links (short_key, long_url, canonical_url, title, search_text, max_visits, disabled, created_at,
  updated_at,
  version, visits, bots, direct, previews)
VALUES ('spring', 'http://a.test', 'http://a.test/', 'Spring', 'spring', 5, false, 1, 1, 1, 4, 2, 3, 1);
UPDATE short_link_version SET newest = 1;
INSERT INTO short_link_days (short_link_seq, bucket_start, bots, desktop, mobile, tablet, other, previews)
SELECT seq, 0, 2, 3, 1, 0, 0, 1 FROM short_links;
INSERT INTO short_link_referrers (short_link_seq, host, visits) SELECT seq, 'a.test', 1 FROM short_links;
INSERT INTO archived_short_links (seq, short_key, long_url, canonical_url, title, search_text, max_visits, disabled,
  created_at,
  updated_at, version, expires_at, visits, bots, owner, private_to, direct, previews)
VALUES (77, 'winter', 'http://a.test', 'http://a.test/', '', 'winter', 0, true, 1, 1, 0, 9, 0, 0, 'bob', '', 0, 0);

INSERT INTO sources (id, external_id, name, url, host, search_text, enabled, max_depth, allowed_domains, rate_limit_ms,
  interval_count, interval_type, created_at, updated_at, private_to, port)
VALUES ('s_1', '', 'A', 'http://a.test:8080', 'a.test', 'a', true, 0, '', 0, 1, 'hours', 1, 1, 'bob', 8080);
INSERT INTO jobs (id, source_seq, url, status, interval_count, interval_type, interval_seconds, adaptive_scheduling,
  source_disabled, max_retries, retry_backoff_seconds, current_retry_count, metadata, executions, content_hash,
  unchanged_count, last_error, created_at, updated_at, forced, retry_next_run)
SELECT 'j_1', seq, 'http://a.test:8080/', 'failed', 1, 'hours', 3600, false, false, 3, 60, 3, '{}', 1, '', 0,
  'timed out', 1, 1,
  true, true FROM sources;
INSERT INTO job_executions (id, job_seq, execution_number, status, lock_token, crawl_seq, url, started_at, progress_at,
  retry_attempt, items_crawled, items_indexed, queued, fetched, failed, error_message, stack_trace, cpu_time_us,
  memory_peak_mb, start_hash, start_error, log_lines, log_bytes, metadata, has_frontier)
SELECT 'e_1', seq, 1, 'failed', 'x', 1, url, 1, 1, 0, 1, 1, 0, 1, 0, 'timed out', '', 5, 5, '', '', 0, 0, '{}',
  true FROM jobs;
INSERT INTO frontier (crawl_seq, source_seq, host_seq, url, url_hash, depth, status, attempts, redirects, last_error,
  created_at,
  updated_at, broken)
VALUES (1, 1, 1, 'http://a.test:8080/', 'x', 0, 'done', 1, 0, '', 1, 1, true);
INSERT INTO crawled_pages (source_seq, crawl_seq, url, url_hash, status_code, content_type, title, description,
  language,
  og_title, og_description, og_image, og_site_name, og_type, content_hash, links_found, noindex, etag, last_modified,
  created_at, fetched_at, changed_at, unindexed, unsent)
VALUES (1, 1, 'http://a.test:8080/', 'x', 200, 'text/html', 'A', '', 'en', '', '', '', '', '', 'h', 3, false, '', '',
  1, 1, 1,
  true, false);
INSERT INTO archive_packs (key, size_bytes, deleting) VALUES ('packs/1', 5, false);
INSERT INTO archived_bodies (hash, pack_seq, length_bytes) SELECT 'h', seq, 5 FROM archive_packs;
INSERT INTO archived_pages (source_seq, url_hash, hash, size_bytes, created_at, fetched_at) VALUES (1, 'x', 'h', 9, 1,
  1);

INSERT INTO websites (id, name, site_url, indexing_enabled, auto_submit, created_at, updated_at, client_email,
  project_id,
  indexing_error, indexing_failures, console_error, console_failures, indexnow_error, indexnow_failures, indexnow_key)
VALUES ('w_1', 'A', 'http://a.test/', true, false, 1, 1, '', '', '', 0, 'forbidden', 1, '', 0, 'key');
INSERT INTO sitemaps (website_seq, url, origin, depth, kind, pages, skipped, skipped_reasons, etag, last_modified,
  generation,
  created_at, submit_error, last_error, complete)
SELECT seq, 'http://a.test/sitemap.xml', 'given', 0, 'sitemap', 1, 0, '', '', '', 1, 1, '', '', true FROM websites;
INSERT INTO pages (website_seq, url, path_start, auto_priority, queue_rank, status, cause, queued_for_google,
  queued_for_indexnow, attempts, removal, unverified, created_at, last_error, verdict, coverage_state, robots_state,
  indexing_state, fetch_state, google_canonical, user_canonical)
SELECT seq, 'http://a.test/1', 14, 50, 50, 'failed', 'quota', true, false, 1, false, false, 1, 'quota', '', '', '',
  '', '', '', ''
FROM websites;
INSERT INTO sitemap_pages (sitemap_seq, page_seq, generation) SELECT s.seq, p.seq, 1
  FROM sitemaps AS s CROSS JOIN pages AS p;
INSERT INTO page_counts (website_seq, status, cause, pages)
SELECT w.seq, s.status, s.cause, 1 FROM websites AS w CROSS JOIN (SELECT 'pending' AS status, '' AS cause
  UNION ALL SELECT 'submitted', '' UNION ALL SELECT 'indexed', '' UNION ALL SELECT 'not_indexed', 'robots'
  UNION ALL SELECT 'failed', 'quota' UNION ALL SELECT 'gone', '') AS s;
INSERT INTO coverage_days (website_seq, day_at, status, pages) SELECT website_seq, 0, status, pages FROM page_counts;

INSERT INTO channels (id, name, kind, config, enabled, created_at, updated_at, last_error, failures)
VALUES ('n_1', 'Chat', 'slack', 'x', true, 1, 1, '', 0);
INSERT INTO alert_rules (id, name, events, targets, tags, status_pages, channels, after_failures, after_minutes,
  repeat_minutes,
  quiet_from, quiet_to, quiet_time_zone, escalate_after_minutes, escalate_channels, enabled, created_at, updated_at)
VALUES ('u_1', 'All', '[]', '[]', '[]', '[]', '["n_1"]', 1, 0, 0, '', '', '', 0, '[]', true, 1, 1);
INSERT INTO alerts (id, ends_id, event, severity, group_key, subject_kind, subject_id, subject_name, subject_url,
  detail,
  subject_count, open_subject_count, flapping, changes, created_at, started_at, fired_at)
VALUES ('a_1', '', 'target.down', 2, 'a.test', 'target', 't_1', 'Home', 'http://a.test/', 'status 500', 1, 1, false,
  1, 1, 1, 2);
INSERT INTO alert_subjects (alert_seq, subject_id, event, subject_kind, name, url, detail, since_at)
SELECT seq, subject_id, event, subject_kind, subject_name, subject_url, detail, 1 FROM alerts;
INSERT INTO alert_sent (alert_seq, channel_seq, subject_id, state, since_at, sent_at)
SELECT a.seq, c.seq, 't_1', 'down', 1, 2 FROM alerts AS a CROSS JOIN channels AS c;
INSERT INTO deliveries (id, alert_seq, channel_seq, reason, status, body, created_at, attempts, last_error)
SELECT 'd_1', a.seq, c.seq, 'fired', 'delivered', '{}', 1, 1, '' FROM alerts AS a CROSS JOIN channels AS c;

INSERT INTO users (id, username, role, disabled, password_hash, totp_step, oidc_issuer, oidc_subject, created_at,
  updated_at,
  refused_at)
VALUES ('b_1', 'bob', 'admin', false, '', 0, 'https://id.test', '7', 1, 1, 5);
INSERT INTO sessions (secret_hash, id, user_seq, method, address, device, created_at, last_seen_at, expires_at,
  confirmed_at)
SELECT 'x', 'z_1', seq, 'oidc', '127.0.0.1', '', 1, 1, 9, 1 FROM users;
INSERT INTO tokens (id, user_seq, name, secret_hash, scopes, created_at) SELECT 'y_1', seq, 'CI', 'x', '[]', 1
  FROM users;
INSERT INTO audit_entries (at, actor_id, actor, via, credential, address, request_id, action, subject_kind, subject_id,
  subject_name, before, after, attempts)
VALUES (1, 'b_1', 'bob', 'session', 'z_1', '127.0.0.1', '', 'target.add', 'target', 't_1', 'Home', '', '{}', 1);
