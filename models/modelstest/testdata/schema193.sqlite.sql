-- Schema 193 of SQLite, the content of sqlite_master, and its first rows.
CREATE TABLE schema_migrations (version BIGINT NOT NULL);
CREATE TABLE instances (
  id           TEXT    NOT NULL PRIMARY KEY,
  started_at   INTEGER NOT NULL,
  heartbeat_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE scheduled_jobs (
  id               TEXT    NOT NULL PRIMARY KEY,
  schedule         TEXT    NOT NULL, -- '' = the program has no such job any more
  runs             INTEGER NOT NULL DEFAULT 0 CHECK (runs >= 0),
  successes        INTEGER NOT NULL DEFAULT 0 CHECK (successes >= 0),
  failures         INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  overlap_skips    INTEGER NOT NULL DEFAULT 0 CHECK (overlap_skips >= 0),
  last_started_at  INTEGER,
  last_duration_ns INTEGER NOT NULL DEFAULT 0 CHECK (last_duration_ns >= 0),
  last_error       TEXT    NOT NULL DEFAULT '',
  next_run_at      INTEGER,
  requested_at     INTEGER,                  -- NULL = no run is requested
  run_id           TEXT    NOT NULL DEFAULT '', -- the run under way, '' = none; without claimed_by its instance died
  claimed_by       TEXT    REFERENCES instances (id) ON DELETE SET NULL
, requested_by TEXT NOT NULL DEFAULT 'manual' CHECK (requested_by IN ('manual', 'start'))) WITHOUT ROWID;
CREATE INDEX scheduled_jobs_claimed ON scheduled_jobs (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE TABLE idempotency_keys (
  scope       TEXT    NOT NULL, -- the route's noun: target
  key         TEXT    NOT NULL,
  resource_id TEXT    NOT NULL,
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (scope, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);
CREATE TABLE cleanup_totals (
  kind            TEXT    NOT NULL PRIMARY KEY,
  cleaned         INTEGER NOT NULL CHECK (cleaned >= 0),
  last_batch_size INTEGER NOT NULL CHECK (last_batch_size >= 0),
  successful_runs INTEGER NOT NULL CHECK (successful_runs >= 0),
  failed_runs     INTEGER NOT NULL CHECK (failed_runs >= 0),
  duration_ns     INTEGER NOT NULL CHECK (duration_ns >= 0), -- of the successful runs together
  last_run_at     INTEGER -- when the last successful run ended
) WITHOUT ROWID;
CREATE TABLE cleanup_runs (
  started_at  INTEGER NOT NULL,
  kind        TEXT    NOT NULL,
  duration_ns INTEGER NOT NULL CHECK (duration_ns >= 0),
  cleaned     INTEGER NOT NULL CHECK (cleaned >= 0),
  error       TEXT    NOT NULL, -- '' = it succeeded
  PRIMARY KEY (started_at, kind)
) WITHOUT ROWID;
CREATE TABLE tags (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT    NOT NULL UNIQUE,
  name         TEXT    NOT NULL,                             -- the casing first stored
  folded_name  TEXT    NOT NULL UNIQUE,                      -- as names are compared
  link_count   INTEGER NOT NULL CHECK (link_count >= 0),     -- active links with this tag
  created_at   INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL
);
CREATE INDEX tags_popular ON tags (link_count);
CREATE INDEX tags_recent  ON tags (last_used_at);
CREATE TABLE link_tags (
  link_seq INTEGER NOT NULL REFERENCES links (seq) ON DELETE CASCADE,
  tag_seq  INTEGER NOT NULL REFERENCES tags (seq), -- no cascade: only a tag without links may be deleted
  position INTEGER NOT NULL CHECK (position >= 0), -- the order in which a link got its tags
  PRIMARY KEY (link_seq, tag_seq)
) WITHOUT ROWID;
CREATE INDEX link_tags_tag ON link_tags (tag_seq, link_seq);
CREATE TABLE link_words (
  word   TEXT    NOT NULL PRIMARY KEY,
  length INTEGER NOT NULL CHECK (length > 0) -- in runes
) WITHOUT ROWID;
CREATE INDEX link_words_length ON link_words (length);
CREATE TABLE link_reindex (
  link_seq INTEGER NOT NULL PRIMARY KEY REFERENCES links (seq) ON DELETE CASCADE
);
CREATE TABLE link_changes (
  id         TEXT    NOT NULL PRIMARY KEY,
  action     TEXT    NOT NULL CHECK (action IN ('delete', 'expire', 'revive', 'tag')),
  links      INTEGER NOT NULL CHECK (links >= 0), -- how many
  before     TEXT    NOT NULL, -- JSON: what undoing needs. Deleted links are in it alone, so it references no table
  created_at INTEGER NOT NULL
, created_by TEXT NOT NULL DEFAULT 'system');
CREATE INDEX link_changes_created ON link_changes (created_at);
CREATE TABLE link_refreshes (
  id         TEXT    NOT NULL PRIMARY KEY,
  total      INTEGER NOT NULL CHECK (total >= 0),
  failed     INTEGER NOT NULL CHECK (failed BETWEEN 0 AND total),
  created_at INTEGER NOT NULL
, created_by TEXT NOT NULL DEFAULT 'system');
CREATE INDEX link_refreshes_created ON link_refreshes (created_at);
CREATE TABLE link_refresh_items (
  refresh_id TEXT    NOT NULL REFERENCES link_refreshes (id) ON DELETE CASCADE,
  link_seq   INTEGER NOT NULL REFERENCES links (seq) ON DELETE CASCADE,
  due_at     INTEGER NOT NULL, -- not before: the host may be rate limiting us
  claimed_by TEXT    REFERENCES instances (id) ON DELETE SET NULL, -- the instance that fetches it; NULL = free
  PRIMARY KEY (refresh_id, link_seq)
) WITHOUT ROWID;
CREATE INDEX link_refresh_items_due     ON link_refresh_items (due_at) WHERE claimed_by IS NULL;
CREATE INDEX link_refresh_items_claimed ON link_refresh_items (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX link_refresh_items_link    ON link_refresh_items (link_seq);
CREATE TABLE targets (
  seq               INTEGER PRIMARY KEY AUTOINCREMENT,
  id                TEXT    NOT NULL UNIQUE,
  -- What the owner set.
  url               TEXT    NOT NULL, -- as it was given
  canonical_url     TEXT    NOT NULL,
  host              TEXT    NOT NULL, -- without port
  name              TEXT    NOT NULL,
  search_text       TEXT    NOT NULL, -- name and URL as they are searched
  interval_seconds  INTEGER NOT NULL CHECK (interval_seconds >= 0), -- 0 = CHECK_INTERVAL
  expect_status     TEXT    NOT NULL, -- '' = 200-399
  expect_keyword    TEXT    NOT NULL,
  expect_absent     TEXT    NOT NULL,
  expect_latency_ms INTEGER NOT NULL CHECK (expect_latency_ms >= 0), -- 0 = any
  paused            INTEGER NOT NULL CHECK (paused IN (0, 1)),
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  deleted_at        INTEGER,          -- NULL = not deleted; else it can be restored until the reaper deletes it
  -- When it is checked next, and by which instance it is being checked.
  state             TEXT    NOT NULL CHECK (state IN ('pending', 'up', 'down')),
  state_since       INTEGER NOT NULL, -- microseconds since 1970
  last_checked_at   INTEGER,
  last_status_code  INTEGER NOT NULL CHECK (last_status_code BETWEEN 0 AND 999), -- 0 = no response
  last_latency_ms   INTEGER NOT NULL CHECK (last_latency_ms >= 0),
  last_error        TEXT    NOT NULL,
  failures          INTEGER NOT NULL CHECK (failures >= 0), -- in a row
  tls_expires_at    INTEGER,
  known_until       INTEGER,          -- microseconds since 1970, until when the last result determines the state; NULL = the state is unknown
  recent_checks             BLOB    NOT NULL, -- the last 40 checks, packed
  -- The hour and the day under way; they move to target_hours and target_days when they end. See there.
  hour_bucket_start INTEGER, -- NULL = none yet
  hour_checks       INTEGER NOT NULL CHECK (hour_checks >= 0),
  hour_known_from   INTEGER,
  hour_up_us        INTEGER NOT NULL CHECK (hour_up_us >= 0),
  hour_down_us      INTEGER NOT NULL CHECK (hour_down_us >= 0),
  hour_latency      BLOB    NOT NULL,
  day_bucket_start  INTEGER, -- NULL = none yet
  day_checks        INTEGER NOT NULL CHECK (day_checks >= 0),
  day_known_from    INTEGER,
  day_up_us         INTEGER NOT NULL CHECK (day_up_us >= 0),
  day_down_us       INTEGER NOT NULL CHECK (day_down_us >= 0),
  day_latency       BLOB    NOT NULL
, owner TEXT NOT NULL DEFAULT 'system', private_to TEXT NOT NULL DEFAULT '');
CREATE INDEX targets_deleted ON targets (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE TABLE check_results (
  target_seq  INTEGER NOT NULL REFERENCES targets (seq) ON DELETE CASCADE,
  checked_at  INTEGER NOT NULL,
  outcome     INTEGER NOT NULL CHECK (outcome IN (0, 1, 2)), -- up, down, throttled
  status_code INTEGER NOT NULL CHECK (status_code BETWEEN 0 AND 999), -- 0 = no response
  latency_ms  INTEGER NOT NULL CHECK (latency_ms >= 0),
  attempts    INTEGER NOT NULL CHECK (attempts >= 0),
  error       TEXT    NOT NULL, -- '' = none
  interval_ms INTEGER NOT NULL CHECK (interval_ms >= 0), -- between checks, when it was made
  PRIMARY KEY (target_seq, checked_at)
) WITHOUT ROWID;
CREATE INDEX check_results_newest ON check_results (checked_at, target_seq);
CREATE INDEX check_results_failed        ON check_results (checked_at, target_seq) WHERE outcome <> 0;
CREATE INDEX check_results_target_failed ON check_results (target_seq, checked_at) WHERE outcome <> 0;
CREATE TABLE target_hours (
  target_seq   INTEGER NOT NULL REFERENCES targets (seq) ON DELETE CASCADE,
  bucket_start INTEGER NOT NULL, -- microseconds since 1970
  checks       INTEGER NOT NULL CHECK (checks >= 0),
  known_from   INTEGER,          -- microseconds since 1970, the first moment whose state is known; NULL = none is
  up_us        INTEGER NOT NULL CHECK (up_us >= 0),   -- time known up
  down_us      INTEGER NOT NULL CHECK (down_us >= 0), -- time known down
  latency      BLOB    NOT NULL, -- histogram, packed
  PRIMARY KEY (target_seq, bucket_start)
) WITHOUT ROWID;
CREATE TABLE target_days (
  target_seq   INTEGER NOT NULL REFERENCES targets (seq) ON DELETE CASCADE,
  bucket_start INTEGER NOT NULL,
  checks       INTEGER NOT NULL CHECK (checks >= 0),
  known_from   INTEGER,
  up_us        INTEGER NOT NULL CHECK (up_us >= 0),
  down_us      INTEGER NOT NULL CHECK (down_us >= 0),
  latency      BLOB    NOT NULL,
  PRIMARY KEY (target_seq, bucket_start)
) WITHOUT ROWID;
CREATE TABLE outages (
  id         TEXT    NOT NULL PRIMARY KEY,
  target_seq INTEGER NOT NULL REFERENCES targets (seq) ON DELETE CASCADE,
  started_at INTEGER NOT NULL, -- of the first check that failed
  ended_at   INTEGER,          -- of the first that did not; NULL = it goes on
  cause      TEXT    NOT NULL  -- the error of the first check
) WITHOUT ROWID;
CREATE INDEX outages_target ON outages (target_seq, started_at, id);
CREATE INDEX outages_newest ON outages (started_at, id);
CREATE INDEX outages_open   ON outages (target_seq) WHERE ended_at IS NULL;
CREATE TABLE status_pages (
  id          TEXT    NOT NULL PRIMARY KEY,
  slug        TEXT    NOT NULL UNIQUE,
  title       TEXT    NOT NULL,
  description TEXT    NOT NULL,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE status_page_targets (
  page_id    TEXT    NOT NULL REFERENCES status_pages (id) ON DELETE CASCADE,
  target_seq INTEGER NOT NULL REFERENCES targets (seq) ON DELETE CASCADE,
  position   INTEGER NOT NULL CHECK (position >= 0),
  PRIMARY KEY (page_id, target_seq)
) WITHOUT ROWID;
CREATE INDEX status_page_targets_target ON status_page_targets (target_seq);
CREATE TABLE short_links (
  seq             INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again, so that a visit that is counted late cannot be another link's
  short_key       TEXT    NOT NULL UNIQUE,
  long_url        TEXT    NOT NULL, -- as it was given
  canonical_url   TEXT    NOT NULL,
  title           TEXT    NOT NULL,
  search_text     TEXT    NOT NULL, -- key, title and URL as they are searched
  max_visits      INTEGER NOT NULL CHECK (max_visits >= 0), -- 0 = any number
  disabled        INTEGER NOT NULL CHECK (disabled IN (0, 1)),
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL, -- of what its owner set
  version         INTEGER NOT NULL DEFAULT 0, -- of the newest change of what its owner set; see short_link_version
  expires_at      INTEGER,
  exhausted_at    INTEGER,          -- when the last of max_visits was made
  deleted_at      INTEGER,          -- it can be restored until the reaper deletes it
  visits          INTEGER NOT NULL CHECK (visits >= 0),
  bots            INTEGER NOT NULL CHECK (bots >= 0), -- of the visits
  last_visited_at INTEGER
, owner TEXT NOT NULL DEFAULT 'system', private_to TEXT NOT NULL DEFAULT '', direct INTEGER NOT NULL DEFAULT 0 CHECK (direct >= 0), previews INTEGER NOT NULL DEFAULT 0 CHECK (previews >= 0));
CREATE INDEX short_links_disabled  ON short_links (created_at, short_key) WHERE disabled AND deleted_at IS NULL;
CREATE INDEX short_links_version   ON short_links (version);
CREATE INDEX short_links_deleted   ON short_links (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE TABLE short_link_version (
  id     INTEGER PRIMARY KEY CHECK (id = 1), -- there is one row
  newest INTEGER NOT NULL
);
CREATE TABLE short_link_days (
  short_link_seq INTEGER NOT NULL REFERENCES short_links (seq) ON DELETE CASCADE,
  bucket_start   INTEGER NOT NULL, -- microseconds since 1970
  bots           INTEGER NOT NULL CHECK (bots >= 0),
  desktop        INTEGER NOT NULL CHECK (desktop >= 0),
  mobile         INTEGER NOT NULL CHECK (mobile >= 0),
  tablet         INTEGER NOT NULL CHECK (tablet >= 0),
  other          INTEGER NOT NULL CHECK (other >= 0), previews INTEGER NOT NULL DEFAULT 0 CHECK (previews >= 0),
  PRIMARY KEY (short_link_seq, bucket_start)
) WITHOUT ROWID;
CREATE INDEX short_link_days_start ON short_link_days (bucket_start);
CREATE TABLE short_link_referrers (
  short_link_seq INTEGER NOT NULL REFERENCES short_links (seq) ON DELETE CASCADE,
  host           TEXT    NOT NULL, -- '' = direct or unknown, '*' = all others
  visits         INTEGER NOT NULL CHECK (visits >= 0),
  PRIMARY KEY (short_link_seq, host)
) WITHOUT ROWID;
CREATE TABLE sources (
  seq              INTEGER PRIMARY KEY AUTOINCREMENT,
  id               TEXT    NOT NULL UNIQUE,
  external_id      TEXT    NOT NULL, -- in the source manager that it was synced from; '' = it was added here
  name             TEXT    NOT NULL,
  url              TEXT    NOT NULL, -- as it was given
  host             TEXT    NOT NULL, -- of the URL, without port
  search_text      TEXT    NOT NULL, -- name and URL as they are searched
  enabled          INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  max_depth        INTEGER NOT NULL CHECK (max_depth >= 0), -- 0 = 3
  allowed_domains  TEXT    NOT NULL, -- separated by spaces, '' = the host of the URL
  rate_limit_ms    INTEGER NOT NULL CHECK (rate_limit_ms >= 0), -- between two requests to a host
  interval_count   INTEGER NOT NULL CHECK (interval_count >= 0), -- 0 = none
  interval_type    TEXT    NOT NULL CHECK (interval_type IN ('minutes', 'hours', 'days')),
  created_at       INTEGER NOT NULL,
  updated_at       INTEGER NOT NULL,
  deleted_at       INTEGER           -- NULL = not deleted; else it can be restored until the reaper deletes it
, owner      TEXT NOT NULL DEFAULT 'system', private_to TEXT NOT NULL DEFAULT '', port INTEGER NOT NULL DEFAULT 0 CHECK (port BETWEEN 0 AND 65535));
CREATE INDEX sources_created ON sources (created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX sources_host    ON sources (host, created_at) WHERE deleted_at IS NULL;
CREATE INDEX sources_deleted ON sources (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE UNIQUE INDEX sources_external ON sources (external_id) WHERE external_id <> '' AND deleted_at IS NULL;
CREATE TABLE jobs (
  seq                   INTEGER PRIMARY KEY AUTOINCREMENT,
  id                    TEXT    NOT NULL UNIQUE,
  source_seq            INTEGER NOT NULL REFERENCES sources (seq) ON DELETE CASCADE,
  url                   TEXT    NOT NULL, -- of the start page, as it is requested
  status                TEXT    NOT NULL CHECK (status IN ('pending', 'scheduled', 'running', 'paused', 'completed', 'failed', 'cancelled')),
  interval_count        INTEGER NOT NULL CHECK (interval_count >= 0), -- 0 = one-time
  interval_type         TEXT    NOT NULL CHECK (interval_type IN ('minutes', 'hours', 'days')),
  interval_seconds      INTEGER NOT NULL CHECK (interval_seconds >= 0), -- in force, with adaptive scheduling
  adaptive_scheduling   INTEGER NOT NULL CHECK (adaptive_scheduling IN (0, 1)),
  source_disabled                  INTEGER NOT NULL CHECK (source_disabled IN (0, 1)), -- its source is disabled
  next_run_at           INTEGER,          -- when it may start; NULL = it does not wait: it is running, paused or over
  planned_at            INTEGER,          -- the run that next_run_at is of by the schedule; retries leave it
  moved_at              INTEGER,          -- when a rebalance last moved it
  paused_at             INTEGER,
  cancelled_at          INTEGER,
  max_retries           INTEGER NOT NULL CHECK (max_retries >= 0),
  retry_backoff_seconds INTEGER NOT NULL CHECK (retry_backoff_seconds >= 0),
  current_retry_count   INTEGER NOT NULL CHECK (current_retry_count >= 0),
  metadata              TEXT    NOT NULL, -- a JSON object
  executions            INTEGER NOT NULL CHECK (executions >= 0), -- the number of the newest execution
  -- The lock: the lease that holds it, and a token that no lock had before.
  lock_token            TEXT,             -- NULL = not locked
  lock_acquired_at      INTEGER,
  claimed_by            TEXT    REFERENCES instances (id) ON DELETE SET NULL, -- NULL with a lock_token: the lease has ended
  -- What the last executions found.
  crawl_seq             INTEGER,          -- a crawl that was interrupted and is to be continued
  content_hash          TEXT    NOT NULL, -- of the start page's text, '' = unknown
  unchanged_count       INTEGER NOT NULL CHECK (unchanged_count >= 0), -- crawls in a row that found it unchanged
  last_error            TEXT    NOT NULL, -- of the last execution, '' = none
  created_at            INTEGER NOT NULL,
  updated_at            INTEGER NOT NULL,
  deleted_at            INTEGER, forced INTEGER NOT NULL DEFAULT 0 CHECK (forced IN (0, 1)), name TEXT NOT NULL DEFAULT '', search_text TEXT NOT NULL DEFAULT '', retry_next_run INTEGER NOT NULL DEFAULT 0 CHECK (retry_next_run IN (0, 1)), consecutive_failures INTEGER NOT NULL DEFAULT 0 CHECK (consecutive_failures >= 0),
  CHECK (next_run_at IS NULL OR status IN ('pending', 'scheduled') AND lock_token IS NULL)
);
CREATE INDEX jobs_created ON jobs (created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX jobs_status  ON jobs (status, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX jobs_source  ON jobs (source_seq, created_at, id);
CREATE INDEX jobs_changed ON jobs (updated_at, seq);
CREATE INDEX jobs_deleted ON jobs (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX jobs_due     ON jobs (next_run_at, interval_seconds) WHERE next_run_at IS NOT NULL AND NOT source_disabled AND deleted_at IS NULL;
CREATE INDEX jobs_locked  ON jobs (lock_token) WHERE lock_token IS NOT NULL;
CREATE INDEX jobs_claimed ON jobs (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE TABLE job_executions (
  seq              INTEGER PRIMARY KEY AUTOINCREMENT,
  id               TEXT    NOT NULL UNIQUE,
  job_seq          INTEGER NOT NULL REFERENCES jobs (seq) ON DELETE CASCADE,
  execution_number INTEGER NOT NULL CHECK (execution_number >= 1),
  status           TEXT    NOT NULL CHECK (status IN ('running', 'completed', 'failed', 'cancelled')),
  lock_token       TEXT    NOT NULL, -- of the job when it began
  crawl_seq        INTEGER NOT NULL, -- its own seq, or that of the interrupted execution that it continues
  url              TEXT    NOT NULL, -- of the start page
  started_at       INTEGER NOT NULL,
  completed_at     INTEGER,
  progress_at      INTEGER NOT NULL, -- when something was last stored for it
  retry_attempt    INTEGER NOT NULL CHECK (retry_attempt >= 0),
  items_crawled    INTEGER NOT NULL CHECK (items_crawled >= 0),
  items_indexed    INTEGER NOT NULL CHECK (items_indexed >= 0),
  queued           INTEGER NOT NULL, -- entries of the frontier that are not finished
  fetched          INTEGER NOT NULL CHECK (fetched >= 0), -- entries that are done
  failed           INTEGER NOT NULL CHECK (failed >= 0),  -- entries that failed
  error_message    TEXT    NOT NULL, -- '' = none
  stack_trace      TEXT    NOT NULL, -- of a panic, '' = there was none
  cpu_time_us      INTEGER NOT NULL CHECK (cpu_time_us >= 0),
  memory_peak_mb   INTEGER NOT NULL CHECK (memory_peak_mb >= 0),
  start_hash       TEXT    NOT NULL, -- of the start page's text, '' = not fetched
  start_error      TEXT    NOT NULL, -- why the start page could not be crawled, '' = it could
  log_lines        INTEGER NOT NULL CHECK (log_lines >= 0),
  log_bytes        INTEGER NOT NULL CHECK (log_bytes >= 0),
  metadata         TEXT    NOT NULL, -- a JSON object
  has_frontier     INTEGER NOT NULL CHECK (has_frontier IN (0, 1)), pages_new     INTEGER NOT NULL DEFAULT 0 CHECK (pages_new >= 0), pages_changed INTEGER NOT NULL DEFAULT 0 CHECK (pages_changed >= 0), pages_gone    INTEGER NOT NULL DEFAULT 0 CHECK (pages_gone >= 0), broken_links  INTEGER NOT NULL DEFAULT 0 CHECK (broken_links >= 0), reported_page INTEGER, cancelled_by TEXT NOT NULL DEFAULT '', -- its crawl may have entries in frontier
  UNIQUE (job_seq, execution_number)
);
CREATE INDEX job_executions_newest  ON job_executions (job_seq, started_at, id);
CREATE INDEX job_executions_running ON job_executions (crawl_seq) WHERE status = 'running';
CREATE INDEX job_executions_ended   ON job_executions (completed_at) WHERE status <> 'running';
CREATE INDEX job_executions_reap    ON job_executions (completed_at) WHERE has_frontier AND status <> 'running';
CREATE INDEX job_executions_crawl   ON job_executions (crawl_seq, seq);
CREATE TABLE job_logs (
  execution_seq INTEGER NOT NULL REFERENCES job_executions (seq) ON DELETE CASCADE,
  first_line    INTEGER NOT NULL CHECK (first_line >= 1),
  lines         INTEGER NOT NULL CHECK (lines >= 1), -- how many
  text          TEXT    NOT NULL,
  PRIMARY KEY (execution_seq, first_line)
) WITHOUT ROWID;
CREATE TABLE crawl_hosts (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  host       TEXT    NOT NULL UNIQUE, -- with its port, unless that is the scheme's own
  next_at    INTEGER,                 -- when it may be asked next; NULL = the frontier has nothing for it
  claimed_by TEXT    REFERENCES instances (id) ON DELETE SET NULL,
  claim      INTEGER NOT NULL CHECK (claim >= 0), -- how often it was claimed
  delay_ms   INTEGER NOT NULL CHECK (delay_ms >= 0), -- between two requests, as it was last
  failures   INTEGER NOT NULL CHECK (failures >= 0), -- in a row
  slow       INTEGER NOT NULL CHECK (slow IN (0, 1)), -- the last request took long
  last_attempt_at   INTEGER
, silent_since INTEGER);
CREATE INDEX crawl_hosts_due     ON crawl_hosts (next_at) WHERE next_at IS NOT NULL AND claimed_by IS NULL;
CREATE INDEX crawl_hosts_claimed ON crawl_hosts (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX crawl_hosts_idle    ON crawl_hosts (last_attempt_at) WHERE next_at IS NULL;
CREATE TABLE crawled_pages (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT,
  source_seq     INTEGER NOT NULL,
  crawl_seq      INTEGER NOT NULL, -- of the crawl that stored it last
  url            TEXT    NOT NULL,
  url_hash       BLOB    NOT NULL, -- as in frontier
  status_code    INTEGER NOT NULL CHECK (status_code BETWEEN 0 AND 999),
  content_type   TEXT    NOT NULL,
  title          TEXT    NOT NULL,
  description    TEXT    NOT NULL,
  language       TEXT    NOT NULL,
  og_title       TEXT    NOT NULL,
  og_description TEXT    NOT NULL,
  og_image       TEXT    NOT NULL,
  og_site_name   TEXT    NOT NULL,
  og_type        TEXT    NOT NULL,
  content_hash   TEXT    NOT NULL, -- SHA-256 of the text in hexadecimal, '' = no text
  links_found    INTEGER NOT NULL CHECK (links_found >= 0),
  noindex        INTEGER NOT NULL CHECK (noindex IN (0, 1)),
  etag           TEXT    NOT NULL,
  last_modified  TEXT    NOT NULL,
  created_at     INTEGER NOT NULL,
  fetched_at     INTEGER NOT NULL,
  changed_at     INTEGER NOT NULL, author        TEXT    NOT NULL DEFAULT '', published_at  INTEGER, modified_at   INTEGER, headings      TEXT    NOT NULL DEFAULT '', json_ld       TEXT    NOT NULL DEFAULT '', word_count    INTEGER NOT NULL DEFAULT 0 CHECK (word_count >= 0), links         BLOB, versions      INTEGER NOT NULL DEFAULT 0 CHECK (versions >= 0), text_version  INTEGER NOT NULL DEFAULT 0 CHECK (text_version >= 0), revision      INTEGER NOT NULL DEFAULT 0 CHECK (revision >= 0), gone_at       INTEGER, unindexed     INTEGER NOT NULL DEFAULT 0 CHECK (unindexed IN (0, 1)), unsent        INTEGER NOT NULL DEFAULT 0 CHECK (unsent IN (0, 1)), deleted_at    INTEGER, canonical TEXT NOT NULL DEFAULT '', duplicate INTEGER NOT NULL DEFAULT 0 CHECK (duplicate IN (0, 1)), -- when content_hash last changed
  UNIQUE (source_seq, url_hash)
);
CREATE INDEX crawled_pages_source ON crawled_pages (source_seq, seq);
CREATE TABLE discovered_links (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  source_seq INTEGER NOT NULL,
  url        TEXT    NOT NULL,
  url_hash   BLOB    NOT NULL,
  text       TEXT    NOT NULL, -- of the link
  found_on   TEXT    NOT NULL, -- URL of the page
  created_at INTEGER NOT NULL, deleted_at INTEGER,
  UNIQUE (source_seq, url_hash)
);
CREATE INDEX discovered_links_source ON discovered_links (source_seq, seq);
CREATE TABLE scheduler_totals (
  id                  INTEGER PRIMARY KEY CHECK (id = 1),
  stale_locks_cleared INTEGER NOT NULL DEFAULT 0 CHECK (stale_locks_cleared >= 0),
  completed           INTEGER NOT NULL DEFAULT 0 CHECK (completed >= 0), -- executions
  failed              INTEGER NOT NULL DEFAULT 0 CHECK (failed >= 0),    -- without those that were interrupted
  duration_us         INTEGER NOT NULL DEFAULT 0 CHECK (duration_us >= 0), -- of those that completed
  last_poll_at        INTEGER
);
CREATE INDEX crawled_pages_unindexed ON crawled_pages (fetched_at) WHERE unindexed;
CREATE INDEX crawled_pages_unsent    ON crawled_pages (seq) WHERE unsent;
CREATE INDEX crawled_pages_deleted   ON crawled_pages (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX crawled_pages_broken    ON crawled_pages (crawl_seq, seq) WHERE status_code >= 400;
CREATE TABLE page_versions (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  page_seq     INTEGER NOT NULL,
  version      INTEGER NOT NULL CHECK (version >= 1),
  change       TEXT    NOT NULL CHECK (change IN ('new', 'changed', 'gone', 'back')),
  crawl_seq    INTEGER NOT NULL, -- of the crawl that found it; 0 = the URL was added by hand
  status_code  INTEGER NOT NULL CHECK (status_code BETWEEN 0 AND 999), -- 0 = no page linked to it
  title        TEXT    NOT NULL,
  content_hash TEXT    NOT NULL,
  word_count   INTEGER NOT NULL CHECK (word_count >= 0),
  text         BLOB,             -- NULL = it is gone
  created_at   INTEGER NOT NULL,
  UNIQUE (page_seq, version)
);
CREATE INDEX page_versions_crawl ON page_versions (crawl_seq, seq);
CREATE INDEX job_executions_report ON job_executions (seq) WHERE reported_page IS NOT NULL;
CREATE TABLE broken_links (
  seq           INTEGER PRIMARY KEY AUTOINCREMENT,
  execution_seq INTEGER NOT NULL REFERENCES job_executions (seq) ON DELETE CASCADE,
  page_seq      INTEGER NOT NULL,
  found_on      TEXT    NOT NULL, -- URL of the page
  url           TEXT    NOT NULL,
  text          TEXT    NOT NULL, -- of the link
  error         TEXT    NOT NULL,
  created_at    INTEGER NOT NULL
);
CREATE INDEX broken_links_execution ON broken_links (execution_seq, seq);
CREATE INDEX discovered_links_deleted ON discovered_links (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE TABLE feeds (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT,
  source_seq     INTEGER NOT NULL REFERENCES sources (seq) ON DELETE CASCADE,
  url            TEXT    NOT NULL, -- as it is requested
  url_hash       BLOB    NOT NULL, -- the first 16 bytes of SHA-256
  title          TEXT    NOT NULL, -- '' = unknown
  etag           TEXT    NOT NULL, -- of the feed as it was read last, '' = none
  last_modified  TEXT    NOT NULL,
  created_at     INTEGER NOT NULL,
  last_polled_at INTEGER,
  read_at        INTEGER,          -- when it was last read in full
  next_poll_at   INTEGER,          -- NULL = it is not polled any more
  failures       INTEGER NOT NULL CHECK (failures >= 0), -- polls that failed in a row
  last_error     TEXT    NOT NULL, -- of the last poll, '' = none
  entries_found  INTEGER NOT NULL CHECK (entries_found >= 0), -- entries that were new
  claimed_by     TEXT    REFERENCES instances (id) ON DELETE SET NULL, truncated INTEGER NOT NULL DEFAULT 0 CHECK (truncated IN (0, 1)), -- NULL = free
  UNIQUE (source_seq, url_hash)
);
CREATE INDEX feeds_due     ON feeds (next_poll_at) WHERE next_poll_at IS NOT NULL AND claimed_by IS NULL;
CREATE INDEX feeds_claimed ON feeds (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX feeds_source  ON feeds (source_seq, seq);
CREATE TABLE feed_entries (
  feed_seq INTEGER NOT NULL REFERENCES feeds (seq) ON DELETE CASCADE,
  url_hash BLOB    NOT NULL, -- as in feeds
  seen_at  INTEGER NOT NULL, -- when the feed last had it
  PRIMARY KEY (feed_seq, url_hash)
) WITHOUT ROWID;
CREATE INDEX feed_entries_seen ON feed_entries (seen_at);
CREATE INDEX feed_entries_feed ON feed_entries (feed_seq, seen_at);
CREATE INDEX jobs_many ON jobs (executions) WHERE executions > 100;
CREATE TABLE "archived_bodies" (
  hash     BLOB NOT NULL PRIMARY KEY, -- SHA-256 of the body
  pack_seq INTEGER REFERENCES archive_packs (seq), start_bytes INTEGER NOT NULL DEFAULT 0 CHECK (start_bytes >= 0), length_bytes INTEGER NOT NULL DEFAULT 0 CHECK (length_bytes >= 0));
CREATE TABLE archived_pages (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  source_seq INTEGER NOT NULL,
  url_hash   BLOB   NOT NULL, -- as in crawled_pages
  hash       BLOB   NOT NULL REFERENCES "archived_bodies" (hash),
  size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0), -- of the body, uncompressed
  created_at INTEGER NOT NULL, -- when the page was first fetched so
  fetched_at INTEGER NOT NULL, -- when it was last fetched so
  UNIQUE (hash, source_seq, url_hash)
);
CREATE INDEX archived_pages_newest ON archived_pages (source_seq, url_hash, fetched_at);
CREATE INDEX archived_pages_old    ON archived_pages (fetched_at);
CREATE TABLE archive_packs (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  key        TEXT    NOT NULL UNIQUE, -- name of the object
  size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0), -- of the object; 0 = it is not known
  deleting   INTEGER NOT NULL CHECK (deleting IN (0, 1)), -- its object may be deleted any moment: it gets no bodies
  due_at     INTEGER -- when the archiver deletes it, or moves its bodies to another; NULL = enough of it is used
);
CREATE INDEX archive_packs_due ON archive_packs (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX archived_bodies_pack ON archived_bodies (pack_seq, length_bytes);
CREATE VIRTUAL TABLE page_index USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii');
CREATE TABLE websites (
  seq              INTEGER PRIMARY KEY AUTOINCREMENT,
  id               TEXT     NOT NULL UNIQUE,
  name             TEXT     NOT NULL,
  site_url         TEXT     NOT NULL, -- https://example.com/ with a path that ends in /, or sc-domain:example.com
  indexing_enabled INTEGER NOT NULL CHECK (indexing_enabled IN (0, 1)), -- its pages qualify for Google's Indexing API
  auto_submit      INTEGER NOT NULL CHECK (auto_submit IN (0, 1)), -- new and changed pages are submitted without being asked for
  created_at       INTEGER    NOT NULL,
  updated_at       INTEGER    NOT NULL,
  deleted_at       INTEGER,             -- NULL = not deleted
  credentials      BLOB,            -- the key of a Google service account, encrypted; NULL = none
  client_email     TEXT     NOT NULL, -- of the service account, '' = none
  project_id       TEXT     NOT NULL, -- of the service account, '' = none
  -- Of each service: why it refused all calls of the website last ('' = it did not), such refusals in a row, and before when it
  -- is not called again (NULL = at any time). The first is Google's Indexing API, the second Google's Search Console.
  indexing_error    TEXT  NOT NULL,
  indexing_failures INTEGER NOT NULL CHECK (indexing_failures >= 0),
  indexing_retry_at INTEGER,
  console_error     TEXT  NOT NULL,
  console_failures  INTEGER NOT NULL CHECK (console_failures >= 0),
  console_retry_at  INTEGER,
  indexnow_error    TEXT  NOT NULL,
  indexnow_failures INTEGER NOT NULL CHECK (indexnow_failures >= 0),
  indexnow_retry_at INTEGER,
  indexnow_key         TEXT NOT NULL, -- '' = IndexNow is not used
  indexnow_verified_at INTEGER,         -- when the key file was last found on the site
  robots_read_at       INTEGER,         -- when robots.txt was last asked for sitemaps
  sitemaps_read_at     INTEGER,         -- when its sitemaps were last read
  sitemaps_requested_at   INTEGER,         -- since when somebody waits for its sitemaps to be read
  submit_requested_at     INTEGER,         -- the same for pages to be submitted
  verify_requested_at     INTEGER,         -- and to be verified
  sitemaps_claimed_by          TEXT REFERENCES instances (id) ON DELETE SET NULL, -- the instance that reads its sitemaps, NULL = none
  submission_claimed_by        TEXT REFERENCES instances (id) ON DELETE SET NULL, -- that submits its pages
  verification_claimed_by      TEXT REFERENCES instances (id) ON DELETE SET NULL  -- that verifies its pages
, robots_error TEXT NOT NULL DEFAULT '', owner      TEXT NOT NULL DEFAULT 'system', private_to TEXT NOT NULL DEFAULT '', google_accepted_at INTEGER);
CREATE INDEX websites_deleted         ON websites (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX websites_wanted          ON websites (seq) WHERE sitemaps_requested_at IS NOT NULL OR submit_requested_at IS NOT NULL OR verify_requested_at IS NOT NULL;
CREATE INDEX websites_sitemaps_by     ON websites (sitemaps_claimed_by) WHERE sitemaps_claimed_by IS NOT NULL;
CREATE INDEX websites_submission_by   ON websites (submission_claimed_by) WHERE submission_claimed_by IS NOT NULL;
CREATE INDEX websites_verification_by ON websites (verification_claimed_by) WHERE verification_claimed_by IS NOT NULL;
CREATE TABLE sitemaps (
  seq           INTEGER PRIMARY KEY AUTOINCREMENT,
  website_seq   INTEGER  NOT NULL REFERENCES websites (seq) ON DELETE CASCADE,
  url           TEXT   NOT NULL, -- as it is requested
  origin        TEXT   NOT NULL CHECK (origin IN ('given', 'robots', 'index')), -- who named it
  parent_seq    INTEGER  REFERENCES sitemaps (seq) ON DELETE CASCADE, -- the index that named it; NULL unless origin is index
  root_seq      INTEGER  REFERENCES sitemaps (seq) ON DELETE CASCADE, -- the first of the indexes that lead to it; NULL like parent_seq
  depth         INTEGER  NOT NULL CHECK (depth >= 0), -- how many indexes lead to it
  kind          TEXT   NOT NULL CHECK (kind IN ('', 'sitemap', 'index', 'text', 'feed')), -- '' = not read yet
  pages         INTEGER  NOT NULL CHECK (pages >= 0),   -- that it had when it was last read; of an index, sitemaps
  skipped       INTEGER  NOT NULL CHECK (skipped >= 0), -- entries that were passed over then
  skipped_reasons   TEXT   NOT NULL, -- the first reasons, a line each
  etag          TEXT   NOT NULL, -- of what was read last, '' = none
  last_modified TEXT   NOT NULL,
  content_hash  BLOB,          -- SHA-256 of what was read last
  generation       INTEGER  NOT NULL CHECK (generation >= 0), -- counts the times that its entries were stored
  created_at    INTEGER  NOT NULL,
  last_read_at  INTEGER,           -- when it was last asked for, successfully or not
  changed_at    INTEGER,           -- when its entries last changed
  submitted_at  INTEGER,           -- when Google was last told of it
  submit_error  TEXT   NOT NULL, -- of the last time, '' = none
  last_error    TEXT   NOT NULL, -- why it could not be read, or not in full; '' = it could
  deleted_at    INTEGER, complete INTEGER NOT NULL DEFAULT 0 CHECK (complete IN (0, 1)),           -- its pages are being detached; NULL = not deleted
  UNIQUE (website_seq, url)
);
CREATE INDEX sitemaps_website ON sitemaps (website_seq, seq);
CREATE INDEX sitemaps_parent  ON sitemaps (parent_seq) WHERE parent_seq IS NOT NULL;
CREATE INDEX sitemaps_root    ON sitemaps (root_seq) WHERE root_seq IS NOT NULL;
CREATE INDEX sitemaps_broken  ON sitemaps (website_seq) WHERE last_error <> '' AND deleted_at IS NULL;
CREATE TABLE pages (
  seq               INTEGER PRIMARY KEY AUTOINCREMENT,
  website_seq       INTEGER  NOT NULL REFERENCES websites (seq) ON DELETE CASCADE,
  url               TEXT   NOT NULL, -- as it is requested
  path_start           INTEGER  NOT NULL CHECK (path_start > 0), -- where in url the path begins, counted from 1
  lastmod           INTEGER,           -- by its sitemap; NULL = it does not say
  auto_priority     INTEGER  NOT NULL CHECK (auto_priority BETWEEN 10 AND 100), -- by lastmod
  manual_priority   INTEGER  CHECK (manual_priority BETWEEN 1 AND 100), -- a user's; NULL = none
  queue_rank        INTEGER  NOT NULL CHECK (queue_rank BETWEEN 0 AND 99), -- 100 minus the priority that counts, so that the queue is read upwards
  reprioritize_at   INTEGER,           -- when auto_priority changes next; NULL = never
  boosted_at        INTEGER,           -- of the bulk change that can be undone
  previous_manual_priority     INTEGER,           -- manual_priority before that change
  status            TEXT   NOT NULL CHECK (status IN ('pending', 'submitted', 'indexed', 'not_indexed', 'failed')),
  cause             TEXT   NOT NULL, -- by which failures and unindexed pages are grouped, '' = none
  queued_for_google        INTEGER NOT NULL CHECK (queued_for_google IN (0, 1)),   -- waits to be submitted to Google
  queued_for_indexnow      INTEGER NOT NULL CHECK (queued_for_indexnow IN (0, 1)), -- waits to be submitted by IndexNow
  submit_after      INTEGER,           -- not to be submitted before this; NULL = at any time
  attempts          INTEGER  NOT NULL CHECK (attempts >= 0), -- that failed in a row
  submit_requested_at  INTEGER,           -- since when somebody waits for its submission
  removal           INTEGER NOT NULL CHECK (removal IN (0, 1)),  -- of its removal
  verify_requested_at  INTEGER,           -- and for its verification
  unverified        INTEGER NOT NULL CHECK (unverified IN (0, 1)), -- submitted after it was last verified
  created_at        INTEGER  NOT NULL,
  last_submitted_at INTEGER,
  last_verified_at  INTEGER,           -- when Google last answered whether it is indexed
  verify_attempted_at          INTEGER,           -- when Google was last asked, answered or not
  last_error        TEXT   NOT NULL, -- of the last submission or verification, '' = none
  gone_at           INTEGER,           -- since when no sitemap has it; NULL = one has it
  verdict           TEXT   NOT NULL, -- what Google says of it, '' = not known: PASS, PARTIAL, FAIL, NEUTRAL
  coverage_state    TEXT   NOT NULL, -- such as Submitted and indexed
  robots_state      TEXT   NOT NULL, -- ALLOWED or DISALLOWED
  indexing_state    TEXT   NOT NULL, -- such as BLOCKED_BY_META_TAG
  fetch_state       TEXT   NOT NULL, -- such as SOFT_404
  google_canonical  TEXT   NOT NULL,
  user_canonical    TEXT   NOT NULL,
  last_crawled_at   INTEGER,           -- by Google
  notified_at       INTEGER, changed_at INTEGER,           -- of the latest notification that the Indexing API has received, by its metadata
  UNIQUE (url, website_seq)
);
CREATE INDEX pages_queue      ON pages (website_seq, status, queue_rank, seq) WHERE gone_at IS NULL;
CREATE INDEX pages_gone       ON pages (website_seq, seq) WHERE gone_at IS NOT NULL;
CREATE INDEX pages_gone_at    ON pages (gone_at) WHERE gone_at IS NOT NULL;
CREATE INDEX pages_cause      ON pages (website_seq, cause, queue_rank, seq) WHERE cause <> '' AND gone_at IS NULL;
CREATE INDEX pages_google     ON pages (website_seq, queue_rank, seq) WHERE queued_for_google AND status <> 'pending';
CREATE INDEX pages_indexnow   ON pages (website_seq, queue_rank, seq) WHERE queued_for_indexnow;
CREATE INDEX pages_unclear    ON pages (website_seq, status, queue_rank, seq) WHERE status = 'pending' AND last_verified_at IS NOT NULL AND gone_at IS NULL;
CREATE INDEX pages_wanted     ON pages (website_seq, submit_requested_at) WHERE submit_requested_at IS NOT NULL;
CREATE INDEX pages_reprior    ON pages (reprioritize_at) WHERE reprioritize_at IS NOT NULL;
CREATE INDEX pages_boosted    ON pages (website_seq, boosted_at) WHERE boosted_at IS NOT NULL;
CREATE INDEX pages_verify     ON pages (website_seq, verify_requested_at) WHERE verify_requested_at IS NOT NULL;
CREATE INDEX pages_unverified ON pages (website_seq, last_submitted_at) WHERE unverified AND gone_at IS NULL;
CREATE INDEX pages_verified   ON pages (website_seq, verify_attempted_at) WHERE verify_attempted_at IS NOT NULL AND gone_at IS NULL;
CREATE TABLE sitemap_pages (
  sitemap_seq INTEGER NOT NULL REFERENCES sitemaps (seq) ON DELETE CASCADE,
  page_seq    INTEGER NOT NULL REFERENCES pages (seq) ON DELETE CASCADE,
  generation     INTEGER NOT NULL, -- of the sitemap, when it last had the page
  PRIMARY KEY (sitemap_seq, page_seq)
) WITHOUT ROWID;
CREATE INDEX sitemap_pages_page ON sitemap_pages (page_seq);
CREATE TABLE page_counts (
  website_seq INTEGER NOT NULL REFERENCES websites (seq) ON DELETE CASCADE,
  status      TEXT  NOT NULL,
  cause       TEXT  NOT NULL,
  pages       INTEGER NOT NULL,
  PRIMARY KEY (website_seq, status, cause)
) WITHOUT ROWID;
CREATE TABLE coverage_days (
  website_seq INTEGER NOT NULL REFERENCES websites (seq) ON DELETE CASCADE,
  day_at      INTEGER NOT NULL, -- when the day begins
  status      TEXT  NOT NULL,
  pages       INTEGER NOT NULL CHECK (pages >= 0),
  PRIMARY KEY (website_seq, day_at, status)
) WITHOUT ROWID;
CREATE INDEX coverage_days_day ON coverage_days (day_at);
CREATE TABLE submissions (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT,
  website_seq INTEGER NOT NULL REFERENCES websites (seq) ON DELETE CASCADE,
  page_seq    INTEGER,          -- NULL = of many pages, or of a sitemap
  url         TEXT  NOT NULL, -- of the page or sitemap, '' = of many pages
  method      TEXT  NOT NULL CHECK (method IN ('indexing_api', 'sitemap', 'indexnow')),
  action      TEXT  NOT NULL CHECK (action IN ('updated', 'deleted')),
  pages       INTEGER NOT NULL CHECK (pages >= 0),
  status      TEXT  NOT NULL CHECK (status IN ('sent', 'accepted', 'refused', 'failed')), -- sent: no answer yet, or it was lost
  status_code INTEGER NOT NULL, -- 0 = no answer
  error       TEXT  NOT NULL, -- '' = none
  created_at  INTEGER NOT NULL,
  answered_at INTEGER
);
CREATE INDEX submissions_website ON submissions (website_seq, seq);
CREATE INDEX submissions_page    ON submissions (page_seq, seq) WHERE page_seq IS NOT NULL;
CREATE INDEX submissions_created ON submissions (created_at);
CREATE TABLE quota_days (
  scope TEXT  NOT NULL,
  kind  TEXT  NOT NULL CHECK (kind IN ('publish', 'inspection')),
  ends_at INTEGER NOT NULL, -- when the day ends, midnight in California
  used  INTEGER NOT NULL CHECK (used >= 0),
  PRIMARY KEY (scope, kind, ends_at)
) WITHOUT ROWID;
CREATE INDEX quota_days_ends ON quota_days (ends_at);
CREATE TABLE quota_uses (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT,
  scope       TEXT  NOT NULL,
  kind        TEXT  NOT NULL CHECK (kind IN ('publish', 'metadata', 'inspection')),
  used_at     INTEGER NOT NULL,
  website_seq INTEGER NOT NULL,
  claimed_by  TEXT REFERENCES instances (id) ON DELETE SET NULL -- while it is under way
);
CREATE INDEX quota_uses_scope   ON quota_uses (scope, used_at, kind);
CREATE INDEX quota_uses_used    ON quota_uses (used_at) WHERE claimed_by IS NULL;
CREATE INDEX quota_uses_website ON quota_uses (website_seq) WHERE claimed_by IS NOT NULL;
CREATE INDEX quota_uses_claimed ON quota_uses (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE TABLE events (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  kind         TEXT    NOT NULL, -- target.down
  phase        TEXT    NOT NULL CHECK (phase IN ('once', 'began', 'ended', 'closed')),
  severity     INTEGER NOT NULL CHECK (severity BETWEEN 0 AND 2), -- info, warning, critical
  subject_kind TEXT    NOT NULL, -- target
  subject_id   TEXT    NOT NULL,
  name         TEXT    NOT NULL,
  url          TEXT    NOT NULL, -- canonical, '' = the subject has none
  host         TEXT    NOT NULL, -- events of a kind and a host are one alert
  since_at     INTEGER NOT NULL, -- when it began
  at           INTEGER NOT NULL, -- when it was found
  failures     INTEGER NOT NULL CHECK (failures >= 0), -- in a row, 0 = they are not counted
  detail       TEXT    NOT NULL  -- "unexpected status 500"
, private_to TEXT NOT NULL DEFAULT '');
CREATE TABLE channels (
  seq               INTEGER PRIMARY KEY AUTOINCREMENT,
  id                TEXT    NOT NULL UNIQUE,
  name              TEXT    NOT NULL,
  kind              TEXT    NOT NULL, -- slack, webhook
  config            BLOB    NOT NULL, -- its URL and secret, encrypted
  enabled           INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  deleted_at        INTEGER,
  last_delivered_at INTEGER,
  last_error        TEXT    NOT NULL, -- why the last message was not delivered, '' = it was
  failures          INTEGER NOT NULL CHECK (failures >= 0), -- in a row
  next_at           INTEGER, -- before when nothing is sent
  claimed_by        TEXT REFERENCES instances (id) ON DELETE SET NULL -- the instance that sends its messages
, owner      TEXT NOT NULL DEFAULT 'system', private_to TEXT NOT NULL DEFAULT '');
CREATE INDEX channels_created ON channels (created_at, id);
CREATE INDEX channels_claimed ON channels (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX channels_deleted ON channels (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE TABLE alert_rules (
  seq                    INTEGER PRIMARY KEY AUTOINCREMENT,
  id                     TEXT    NOT NULL UNIQUE,
  name                   TEXT    NOT NULL,
  events                 TEXT    NOT NULL,
  targets                TEXT    NOT NULL,
  tags                   TEXT    NOT NULL,
  status_pages               TEXT    NOT NULL,
  channels               TEXT    NOT NULL,
  after_failures         INTEGER NOT NULL CHECK (after_failures >= 1),
  after_minutes          INTEGER NOT NULL CHECK (after_minutes >= 0),
  repeat_minutes         INTEGER NOT NULL CHECK (repeat_minutes >= 0), -- 0 = never
  quiet_from             TEXT    NOT NULL, -- 22:00, '' = there are no quiet hours
  quiet_to               TEXT    NOT NULL,
  quiet_time_zone        TEXT    NOT NULL, -- Europe/Berlin
  escalate_after_minutes INTEGER NOT NULL CHECK (escalate_after_minutes >= 0), -- 0 = never
  escalate_channels      TEXT    NOT NULL,
  enabled                INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  created_at             INTEGER NOT NULL,
  updated_at             INTEGER NOT NULL,
  deleted_at             INTEGER
, owner      TEXT NOT NULL DEFAULT 'system', private_to TEXT NOT NULL DEFAULT '', group_wait_seconds INTEGER NOT NULL DEFAULT 0 CHECK (group_wait_seconds >= 0), subjects TEXT NOT NULL DEFAULT '[]');
CREATE INDEX alert_rules_created ON alert_rules (created_at, id);
CREATE INDEX alert_rules_deleted ON alert_rules (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE TABLE maintenance (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  id         TEXT    NOT NULL UNIQUE,
  name       TEXT    NOT NULL,
  targets    TEXT    NOT NULL,
  tags       TEXT    NOT NULL,
  status_pages   TEXT    NOT NULL,
  starts_at  INTEGER NOT NULL, -- the first time
  ends_at    INTEGER NOT NULL,
  repeat     TEXT    NOT NULL CHECK (repeat IN ('none', 'weekly', 'monthly')),
  time_zone  TEXT    NOT NULL, -- in which it is repeated
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER, subjects TEXT NOT NULL DEFAULT '[]',
  CHECK (ends_at > starts_at)
);
CREATE INDEX maintenance_created ON maintenance (created_at, id);
CREATE INDEX maintenance_deleted ON maintenance (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE TABLE alerts (
  seq             INTEGER PRIMARY KEY AUTOINCREMENT,
  id              TEXT    NOT NULL UNIQUE,
  ends_id         TEXT    NOT NULL, -- of the alert that this one tells the end of, '' = of none
  event           TEXT    NOT NULL,
  severity        INTEGER NOT NULL CHECK (severity BETWEEN 0 AND 2), -- info, warning, critical
  group_key       TEXT    NOT NULL, -- the host of its subjects and the rules that tell of them; a '*' instead of the host = many hosts
  subject_kind    TEXT    NOT NULL, -- of the first subject
  subject_id      TEXT    NOT NULL,
  subject_name    TEXT    NOT NULL,
  subject_url     TEXT    NOT NULL,
  detail          TEXT    NOT NULL, -- of the first subject
  subject_count         INTEGER NOT NULL CHECK (subject_count >= 0),      -- subjects
  open_subject_count    INTEGER NOT NULL CHECK (open_subject_count >= 0), -- subjects of which it has not ended
  flapping        INTEGER NOT NULL CHECK (flapping IN (0, 1)),
  changes         INTEGER NOT NULL CHECK (changes >= 0), -- times that it began, in the time in which flapping is looked for
  created_at      INTEGER NOT NULL,
  started_at      INTEGER NOT NULL, -- when what it tells of began
  fired_at        INTEGER, -- when it was first sent; NULL = it is not shown yet
  resolve_at      INTEGER, -- when a flapping alert counts as resolved
  resolved_at     INTEGER,
  acknowledged_at INTEGER,
  silenced_until_at INTEGER
, private_to TEXT NOT NULL DEFAULT '', recovery_of INTEGER NOT NULL DEFAULT 0, part_of_id TEXT NOT NULL DEFAULT '');
CREATE UNIQUE INDEX alerts_open   ON alerts (event, group_key) WHERE resolved_at IS NULL;
CREATE INDEX alerts_recent        ON alerts (event, created_at);
CREATE INDEX alerts_group         ON alerts (event, group_key, created_at);
CREATE INDEX alerts_resolved       ON alerts (resolved_at) WHERE resolved_at IS NOT NULL;
CREATE INDEX alerts_resolve       ON alerts (resolve_at) WHERE resolve_at IS NOT NULL;
CREATE TABLE "alert_subjects" (
  alert_seq    INTEGER NOT NULL REFERENCES alerts (seq) ON DELETE CASCADE,
  subject_id   TEXT    NOT NULL,
  event        TEXT    NOT NULL, -- of the alert
  subject_kind TEXT    NOT NULL,
  name         TEXT    NOT NULL,
  url          TEXT    NOT NULL,
  detail       TEXT    NOT NULL,
  since_at     INTEGER NOT NULL,
  ended_at     INTEGER, changes INTEGER NOT NULL DEFAULT 1 CHECK (changes >= 1), acknowledged_at INTEGER, -- NULL = it goes on
  PRIMARY KEY (alert_seq, subject_id)
) WITHOUT ROWID;
CREATE TABLE alert_notices (
  alert_seq   INTEGER NOT NULL REFERENCES alerts (seq) ON DELETE CASCADE,
  rule_seq    INTEGER NOT NULL REFERENCES alert_rules (seq) ON DELETE CASCADE,
  next_at     INTEGER, -- NULL = nothing more
  notified_at INTEGER, -- when the rule's channels were first told
  repeat_at   INTEGER, -- when they are reminded
  escalate_at INTEGER, -- when the rule's other channels are told
  escalated_at INTEGER,
  severity    INTEGER NOT NULL CHECK (severity BETWEEN 0 AND 2), announced_at INTEGER, recovered_at INTEGER, -- of which they were told
  PRIMARY KEY (alert_seq, rule_seq)
) WITHOUT ROWID;
CREATE INDEX alert_notices_next ON alert_notices (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX alert_notices_rule ON alert_notices (rule_seq);
CREATE TABLE deliveries (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT    NOT NULL UNIQUE, -- what the channel is told, so that it can tell repetitions
  alert_seq    INTEGER NOT NULL REFERENCES alerts (seq) ON DELETE CASCADE,
  channel_seq  INTEGER NOT NULL REFERENCES channels (seq) ON DELETE CASCADE,
  reason       TEXT    NOT NULL CHECK (reason IN ('fired', 'worse', 'repeated', 'escalated', 'resolved')),
  status       TEXT    NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
  body         TEXT    NOT NULL, -- the alert as it was, JSON
  created_at   INTEGER NOT NULL,
  delivered_at INTEGER,
  next_at      INTEGER, -- when it is tried again after others, since the channel refuses it
  attempts     INTEGER NOT NULL CHECK (attempts >= 0),
  last_error   TEXT    NOT NULL
);
CREATE INDEX deliveries_alert   ON deliveries (alert_seq);
CREATE INDEX deliveries_channel ON deliveries (channel_seq);
CREATE INDEX deliveries_waiting ON deliveries (created_at) WHERE status = 'pending';
CREATE INDEX deliveries_pending ON deliveries (channel_seq, next_at, seq) WHERE status = 'pending';
CREATE TABLE alert_mentions (
  alert_seq  INTEGER NOT NULL REFERENCES alerts (seq) ON DELETE CASCADE,
  rule_seq   INTEGER NOT NULL REFERENCES alert_rules (seq) ON DELETE CASCADE,
  subject_id TEXT    NOT NULL,
  due_at     INTEGER, -- when it is to be sent, NULL = nothing is
  sent_at    INTEGER, recovered_at INTEGER, -- when it was last sent
  PRIMARY KEY (alert_seq, rule_seq, subject_id)
) WITHOUT ROWID;
CREATE INDEX alert_mentions_rule ON alert_mentions (rule_seq);
CREATE INDEX alerts_acknowledged ON alerts (acknowledged_at) WHERE acknowledged_at IS NOT NULL;
CREATE INDEX alerts_silenced     ON alerts (silenced_until_at) WHERE silenced_until_at IS NOT NULL;
CREATE INDEX deliveries_failed ON deliveries (channel_seq, created_at) WHERE status = 'failed';
CREATE TABLE "job_runs" (
  id          TEXT    NOT NULL PRIMARY KEY,
  job_id      TEXT    NOT NULL REFERENCES scheduled_jobs (id) ON DELETE CASCADE,
  started_at  INTEGER NOT NULL,
  duration_ns INTEGER NOT NULL CHECK (duration_ns >= 0),
  "trigger"   TEXT    NOT NULL CHECK ("trigger" IN ('schedule', 'manual', 'start')),
  summary     TEXT    NOT NULL,
  error       TEXT    NOT NULL -- '' = it succeeded
) WITHOUT ROWID;
CREATE INDEX job_runs_newest ON job_runs (job_id, started_at, id);
CREATE TABLE users (
  seq                 INTEGER PRIMARY KEY AUTOINCREMENT,
  id                  TEXT    NOT NULL UNIQUE,
  username            TEXT    NOT NULL UNIQUE, -- in lower case; that of a deleted account is not given to another one
  role                TEXT    NOT NULL CHECK (role IN ('admin', 'editor', 'viewer')),
  disabled            INTEGER NOT NULL CHECK (disabled IN (0, 1)),
  password_hash       TEXT    NOT NULL, -- argon2id, '' = it cannot sign in by a password
  password_changed_at INTEGER,
  totp_secret         BLOB,             -- encrypted; NULL = no second factor
  totp_confirmed_at   INTEGER,          -- NULL = the secret is not in use yet
  totp_step           INTEGER NOT NULL CHECK (totp_step >= 0), -- of the last code that was used: no code is used twice
  oidc_issuer         TEXT    NOT NULL, -- '' = it was not made by single sign-on
  oidc_subject        TEXT    NOT NULL,
  created_at          INTEGER NOT NULL,
  updated_at          INTEGER NOT NULL,
  last_login_at       INTEGER,
  deleted_at          INTEGER           -- it can be restored for a day; NULL = not deleted
, oidc_subject_hash BLOB, totp_prepared_at INTEGER, refused_at INTEGER CHECK (refused_at IS NULL OR oidc_issuer <> ''));
CREATE INDEX users_created     ON users (created_at, id) WHERE deleted_at IS NULL;
CREATE TABLE recovery_codes (
  user_seq  INTEGER NOT NULL REFERENCES users (seq) ON DELETE CASCADE,
  code_hash BLOB    NOT NULL, -- HMAC-SHA-256
  PRIMARY KEY (user_seq, code_hash)
) WITHOUT ROWID;
CREATE TABLE sessions (
  secret_hash  BLOB    NOT NULL PRIMARY KEY, -- SHA-256 of what the cookie holds
  id           TEXT    NOT NULL UNIQUE,
  user_seq     INTEGER NOT NULL REFERENCES users (seq) ON DELETE CASCADE,
  method       TEXT    NOT NULL CHECK (method IN ('password', 'oidc')),
  address      TEXT    NOT NULL, -- of the client when it signed in
  device       TEXT    NOT NULL, -- "Firefox on Linux", '' = unknown
  created_at   INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL, -- to the minute
  expires_at   INTEGER NOT NULL  -- however much it is used
, confirmed_at INTEGER CHECK (confirmed_at IS NULL OR method = 'oidc'), retry_at INTEGER CHECK (retry_at IS NULL OR method = 'oidc'), refresh_token BLOB CHECK (refresh_token IS NULL OR method = 'oidc'), id_token BLOB CHECK (id_token IS NULL OR method = 'oidc')) WITHOUT ROWID;
CREATE INDEX sessions_user    ON sessions (user_seq, created_at);
CREATE INDEX sessions_idle    ON sessions (last_seen_at);
CREATE INDEX sessions_expires ON sessions (expires_at);
CREATE TABLE tokens (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT    NOT NULL UNIQUE,
  user_seq     INTEGER NOT NULL REFERENCES users (seq) ON DELETE CASCADE,
  name         TEXT    NOT NULL,
  secret_hash  BLOB    NOT NULL UNIQUE, -- SHA-256
  scopes       TEXT    NOT NULL, -- a JSON array
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  last_used_at INTEGER            -- to the minute
);
CREATE INDEX tokens_user    ON tokens (user_seq, created_at, id);
CREATE INDEX tokens_expires ON tokens (expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE audit_entries (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  at           INTEGER NOT NULL,
  actor_id     TEXT    NOT NULL, -- of the account, '' = none. Accounts go, entries stay: no foreign key
  actor        TEXT    NOT NULL,
  via          TEXT    NOT NULL,
  credential   TEXT    NOT NULL, -- id of the session or token, '' = none
  address      TEXT    NOT NULL, -- of the client, '' = unknown
  request_id   TEXT    NOT NULL,
  action       TEXT    NOT NULL, -- target.edit
  subject_kind TEXT    NOT NULL, -- target, '' = none
  subject_id   TEXT    NOT NULL,
  subject_name TEXT    NOT NULL,
  before       TEXT    NOT NULL, -- a JSON object, '' = nothing
  after        TEXT    NOT NULL,
  attempts     INTEGER NOT NULL CHECK (attempts >= 1)
);
CREATE INDEX audit_entries_newest  ON audit_entries (at, seq);
CREATE INDEX audit_entries_actor   ON audit_entries (actor, at, seq);
CREATE INDEX audit_entries_action  ON audit_entries (action, at, seq);
CREATE INDEX audit_entries_subject ON audit_entries (subject_id, at, seq) WHERE subject_id <> '';
CREATE INDEX audit_entries_address ON audit_entries (address, at, seq);
CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON audit_entries
BEGIN
  SELECT RAISE(ABORT, 'audit entries are not changed');
END;
CREATE TABLE "links" (
  seq               INTEGER PRIMARY KEY AUTOINCREMENT, -- newest first = greatest first, in lists and in the search index
  id                TEXT    NOT NULL UNIQUE,
  url               TEXT    NOT NULL, -- as it was given
  canonical_url     TEXT    NOT NULL,
  title             TEXT    NOT NULL, -- what is shown: own_title, else fetched_title
  own_title         TEXT    NOT NULL,
  fetched_title     TEXT    NOT NULL,
  og_title          TEXT    NOT NULL,
  og_description    TEXT    NOT NULL,
  og_image          TEXT    NOT NULL,
  og_site_name      TEXT    NOT NULL,
  og_type           TEXT    NOT NULL,
  owner             TEXT    NOT NULL,
  notes             TEXT    NOT NULL,
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  expired_at        INTEGER,          -- NULL = active
  view_count        INTEGER NOT NULL CHECK (view_count >= 0),
  health            TEXT    NOT NULL CHECK (health IN ('unchecked', 'ok', 'moved', 'blocked', 'suspect', 'dead')),
  health_changed_at INTEGER NOT NULL,
  last_checked_at   INTEGER,
  last_status_code  INTEGER NOT NULL CHECK (last_status_code BETWEEN 0 AND 999), -- 0 = no response
  last_error        TEXT    NOT NULL,
  moved_to          TEXT    NOT NULL,
  failures          INTEGER NOT NULL CHECK (failures >= 0), -- in a row
  next_check_at     INTEGER,          -- NULL = not to be checked
  claimed_by        TEXT    REFERENCES instances (id) ON DELETE SET NULL, -- the instance that checks it; NULL = free
  private_to        TEXT    NOT NULL DEFAULT '', fetched_description TEXT NOT NULL DEFAULT '', -- '' = all accounts see it, else only its owner, which this is
  UNIQUE (canonical_url, private_to)
);
CREATE INDEX links_expired ON links (expired_at, seq, private_to);
CREATE INDEX links_popular ON links (expired_at, view_count);
CREATE INDEX links_unwell  ON links (health, health_changed_at) WHERE expired_at IS NULL AND health <> 'ok';
CREATE INDEX links_due     ON links (next_check_at) WHERE next_check_at IS NOT NULL AND claimed_by IS NULL;
CREATE INDEX links_claimed ON links (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX links_private ON links (private_to, expired_at, health) WHERE private_to <> '';
CREATE TABLE tag_scopes (
  tag_seq      INTEGER NOT NULL REFERENCES tags (seq) ON DELETE CASCADE,
  private_to   TEXT    NOT NULL, -- of the links
  links        INTEGER NOT NULL CHECK (links >= 0),                -- with this tag, expired ones too
  link_count   INTEGER NOT NULL CHECK (link_count BETWEEN 0 AND links), -- those that are active
  created_at   INTEGER NOT NULL, -- when the first of them got the tag
  last_used_at INTEGER NOT NULL,
  PRIMARY KEY (tag_seq, private_to)
) WITHOUT ROWID;
CREATE UNIQUE INDEX targets_canonical_url ON targets (canonical_url, private_to) WHERE deleted_at IS NULL;
CREATE INDEX targets_created ON targets (created_at, id, private_to) WHERE deleted_at IS NULL;
CREATE INDEX targets_host    ON targets (host, created_at, id, private_to) WHERE deleted_at IS NULL;
CREATE INDEX targets_state   ON targets (paused, state, created_at, id, private_to) WHERE deleted_at IS NULL;
CREATE INDEX short_links_created   ON short_links (created_at, short_key, private_to) WHERE deleted_at IS NULL;
CREATE INDEX short_links_canonical ON short_links (canonical_url, private_to);
CREATE UNIQUE INDEX websites_site_url ON websites (site_url, private_to) WHERE deleted_at IS NULL;
CREATE TABLE "frontier" (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  crawl_seq  INTEGER NOT NULL, -- the execution that began the crawl; 0 = added by hand
  source_seq INTEGER NOT NULL,
  host_seq   INTEGER NOT NULL,
  url        TEXT    NOT NULL,
  url_hash   BLOB    NOT NULL, -- the first 16 bytes of SHA-256
  depth      INTEGER NOT NULL CHECK (depth >= 0), -- 0 = the start page
  status     TEXT    NOT NULL CHECK (status IN ('pending', 'fetching', 'done', 'failed')),
  attempts   INTEGER NOT NULL CHECK (attempts >= 0),
  redirects  INTEGER NOT NULL CHECK (redirects >= 0), -- that were followed on the way to this URL
  last_error TEXT    NOT NULL, -- '' = none
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  linked_as  TEXT    NOT NULL DEFAULT '', -- the URL that pages link to, if that redirected; '' = url
  broken     INTEGER NOT NULL DEFAULT 0 CHECK (broken IN (0, 1)), -- there is no page: links to it are reported
  scope_seq  INTEGER NOT NULL DEFAULT 0, cookies TEXT NOT NULL DEFAULT '', -- the source, if it was added by hand and that is private; else 0
  UNIQUE (crawl_seq, url_hash, scope_seq)
);
CREATE INDEX frontier_open   ON frontier (host_seq, attempts, depth, seq) WHERE status IN ('pending', 'fetching');
CREATE INDEX frontier_broken ON frontier (crawl_seq, seq) WHERE broken;
CREATE INDEX frontier_linked ON frontier (crawl_seq, linked_as) WHERE linked_as <> '';
CREATE INDEX alerts_fired      ON alerts (created_at, id, private_to) WHERE fired_at IS NOT NULL;
CREATE INDEX alerts_firing     ON alerts (created_at, id, private_to) WHERE fired_at IS NOT NULL AND resolved_at IS NULL;
CREATE INDEX alerts_severity   ON alerts (severity, created_at, id, private_to) WHERE fired_at IS NOT NULL AND resolved_at IS NULL AND acknowledged_at IS NULL;
CREATE INDEX alert_subjects_open ON alert_subjects (subject_id, event) WHERE ended_at IS NULL;
CREATE INDEX alert_subjects_since ON alert_subjects (subject_id, event, since_at);
CREATE INDEX alerts_unacknowledged ON alerts (created_at, id, private_to) WHERE fired_at IS NOT NULL AND resolved_at IS NULL AND acknowledged_at IS NULL;
CREATE TABLE row_counts (
  counted    TEXT    NOT NULL, -- the table
  block      INTEGER NOT NULL, -- of links: seq / 4096, by which a list finds a late page; else 0
  private_to TEXT    NOT NULL, -- of the rows
  state      TEXT    NOT NULL, -- what the table's pages tell apart, such as the status
  slot       INTEGER NOT NULL, -- always 0: only PostgreSQL has several writers
  n          INTEGER NOT NULL,
  PRIMARY KEY (counted, block, private_to, state, slot)
) WITHOUT ROWID;
CREATE TRIGGER links_count_insert AFTER INSERT ON links BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  VALUES ('links', NEW.seq >> 12, NEW.private_to, CASE WHEN NEW.expired_at IS NULL THEN NEW.health ELSE 'expired ' || NEW.health END, 0, 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER links_count_delete AFTER DELETE ON links BEGIN
  UPDATE row_counts SET n = n - 1 WHERE counted = 'links' AND block = OLD.seq >> 12 AND private_to = OLD.private_to
    AND state = CASE WHEN OLD.expired_at IS NULL THEN OLD.health ELSE 'expired ' || OLD.health END AND slot = 0;
END;
CREATE TRIGGER links_count_update AFTER UPDATE OF private_to, health, expired_at ON links
WHEN OLD.private_to <> NEW.private_to OR CASE WHEN OLD.expired_at IS NULL THEN OLD.health ELSE 'expired ' || OLD.health END <> CASE WHEN NEW.expired_at IS NULL THEN NEW.health ELSE 'expired ' || NEW.health END BEGIN
  UPDATE row_counts SET n = n - 1 WHERE counted = 'links' AND block = OLD.seq >> 12 AND private_to = OLD.private_to
    AND state = CASE WHEN OLD.expired_at IS NULL THEN OLD.health ELSE 'expired ' || OLD.health END AND slot = 0;
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  VALUES ('links', NEW.seq >> 12, NEW.private_to, CASE WHEN NEW.expired_at IS NULL THEN NEW.health ELSE 'expired ' || NEW.health END, 0, 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER tags_count_insert AFTER INSERT ON tags BEGIN
  UPDATE row_counts SET n = n + 1 WHERE counted = 'tags' AND block = 0 AND private_to = '' AND state = '' AND slot = 0;
END;
CREATE TRIGGER tags_count_delete AFTER DELETE ON tags BEGIN
  UPDATE row_counts SET n = n - 1 WHERE counted = 'tags' AND block = 0 AND private_to = '' AND state = '' AND slot = 0;
END;
CREATE INDEX links_state ON links (expired_at, health, seq, private_to);
CREATE INDEX links_gone  ON links (seq, private_to, health, expired_at) WHERE expired_at IS NOT NULL;
CREATE TABLE link_docs (
  link_seq INTEGER NOT NULL PRIMARY KEY,
  title    TEXT    NOT NULL, -- as it was indexed: folded
  url      TEXT    NOT NULL,
  tags     TEXT    NOT NULL, -- one on each line
  marks    TEXT    NOT NULL  -- one on each line: tags, health, and whether the link is expired or private
);
CREATE TABLE link_postings (
  bucket INTEGER NOT NULL PRIMARY KEY, -- a block of 4,096 links and some keys: three characters of a field, or a mark
  lists  BLOB    NOT NULL              -- for each key, the links with it, and its positions: models/links/postings.go
);
CREATE TRIGGER targets_count_insert AFTER INSERT ON targets BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  VALUES ('targets', 0, NEW.private_to, CASE WHEN NEW.deleted_at IS NOT NULL THEN 'deleted' WHEN NEW.paused THEN 'paused' ELSE NEW.state END, 0, 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER targets_count_delete AFTER DELETE ON targets BEGIN
  UPDATE row_counts SET n = n - 1 WHERE counted = 'targets' AND block = 0 AND private_to = OLD.private_to
    AND state = CASE WHEN OLD.deleted_at IS NOT NULL THEN 'deleted' WHEN OLD.paused THEN 'paused' ELSE OLD.state END AND slot = 0;
END;
CREATE TRIGGER targets_count_update AFTER UPDATE OF private_to, paused, state, deleted_at ON targets
WHEN OLD.private_to <> NEW.private_to OR OLD.paused <> NEW.paused OR OLD.state <> NEW.state OR (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL) BEGIN
  UPDATE row_counts SET n = n - 1 WHERE counted = 'targets' AND block = 0 AND private_to = OLD.private_to
    AND state = CASE WHEN OLD.deleted_at IS NOT NULL THEN 'deleted' WHEN OLD.paused THEN 'paused' ELSE OLD.state END AND slot = 0;
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  VALUES ('targets', 0, NEW.private_to, CASE WHEN NEW.deleted_at IS NOT NULL THEN 'deleted' WHEN NEW.paused THEN 'paused' ELSE NEW.state END, 0, 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE INDEX targets_down ON targets (state_since, seq, private_to) WHERE state = 'down' AND NOT paused AND deleted_at IS NULL;
CREATE TRIGGER jobs_count_insert AFTER INSERT ON jobs BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  VALUES ('jobs', 0, (SELECT private_to FROM sources WHERE seq = NEW.source_seq), CASE WHEN NEW.deleted_at IS NULL THEN NEW.status ELSE 'deleted' END, 0, 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER jobs_count_delete AFTER DELETE ON jobs BEGIN
  UPDATE row_counts SET n = n - 1 WHERE counted = 'jobs' AND block = 0 AND private_to = (SELECT private_to FROM sources WHERE seq = OLD.source_seq)
    AND state = CASE WHEN OLD.deleted_at IS NULL THEN OLD.status ELSE 'deleted' END AND slot = 0;
END;
CREATE TRIGGER jobs_count_update AFTER UPDATE OF source_seq, status, deleted_at ON jobs
WHEN OLD.source_seq <> NEW.source_seq OR OLD.status <> NEW.status OR (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL) BEGIN
  UPDATE row_counts SET n = n - 1 WHERE counted = 'jobs' AND block = 0 AND private_to = (SELECT private_to FROM sources WHERE seq = OLD.source_seq)
    AND state = CASE WHEN OLD.deleted_at IS NULL THEN OLD.status ELSE 'deleted' END AND slot = 0;
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  VALUES ('jobs', 0, (SELECT private_to FROM sources WHERE seq = NEW.source_seq), CASE WHEN NEW.deleted_at IS NULL THEN NEW.status ELSE 'deleted' END, 0, 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER sources_count_jobs AFTER UPDATE OF private_to ON sources WHEN OLD.private_to <> NEW.private_to BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  SELECT 'jobs', 0, c.private_to, CASE WHEN j.deleted_at IS NULL THEN j.status ELSE 'deleted' END, 0, sum(c.n) FROM jobs AS j JOIN (SELECT OLD.private_to AS private_to, -1 AS n UNION ALL SELECT NEW.private_to, 1) AS c
  WHERE j.source_seq = NEW.seq GROUP BY 3, 4
  ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER sources_delete_jobs BEFORE DELETE ON sources BEGIN
  DELETE FROM jobs WHERE source_seq = OLD.seq;
END;
CREATE INDEX audit_entries_actor_action ON audit_entries (actor, action, at, seq);
CREATE INDEX alerts_ended ON alerts (created_at, id, private_to) WHERE fired_at IS NOT NULL AND resolved_at IS NOT NULL;
CREATE INDEX frontier_status ON frontier (status, seq) WHERE status <> 'done';
CREATE INDEX frontier_crawl  ON frontier (crawl_seq, seq);
CREATE INDEX frontier_source ON frontier (source_seq, seq);
CREATE INDEX page_versions_change ON page_versions (crawl_seq, change, seq);
CREATE INDEX short_links_expires   ON short_links (expires_at, created_at, short_key, private_to, disabled, deleted_at) WHERE expires_at IS NOT NULL;
CREATE INDEX short_links_exhausted ON short_links (exhausted_at, created_at, short_key, private_to, disabled, deleted_at) WHERE exhausted_at IS NOT NULL;
CREATE TABLE target_schedule (
  target_seq      INTEGER NOT NULL PRIMARY KEY REFERENCES targets (seq) ON DELETE CASCADE,
  due_at          INTEGER, -- since when a check is due; NULL = not to be checked
  next_check_at   INTEGER, -- when it may be claimed; NULL = not to be checked
  postponed_until INTEGER, -- the end of the last pause that the host asked for; NULL = it did not
  claimed_by      TEXT REFERENCES instances (id) ON DELETE SET NULL -- NULL = free
, started_at INTEGER, requested_at INTEGER);
CREATE INDEX target_schedule_due     ON target_schedule (next_check_at) WHERE next_check_at IS NOT NULL AND claimed_by IS NULL;
CREATE INDEX target_schedule_claimed ON target_schedule (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX targets_tls ON targets (tls_expires_at, seq, created_at, id, private_to, paused, deleted_at) WHERE tls_expires_at IS NOT NULL AND NOT paused AND deleted_at IS NULL;
CREATE INDEX websites_created   ON websites (created_at, id, private_to, deleted_at) WHERE deleted_at IS NULL;
CREATE INDEX page_counts_failed ON page_counts (website_seq) WHERE status = 'failed';
CREATE INDEX websites_refused ON websites (created_at, id, private_to) WHERE (indexing_error <> '' OR console_error <> '') AND deleted_at IS NULL;
CREATE UNIQUE INDEX users_oidc      ON users (oidc_issuer, oidc_subject) WHERE oidc_subject <> '';
CREATE UNIQUE INDEX users_oidc_hash ON users (oidc_issuer, oidc_subject_hash) WHERE oidc_subject_hash IS NOT NULL;
CREATE INDEX users_deleted          ON users (created_at, id) WHERE deleted_at IS NOT NULL;
CREATE TABLE used_logins (
  state_hash BLOB    NOT NULL PRIMARY KEY,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX used_logins_expiry ON used_logins (expires_at);
CREATE INDEX pages_submitted_unclear ON pages (website_seq, status, queue_rank, seq) WHERE status = 'submitted' AND last_verified_at IS NOT NULL AND NOT unverified AND gone_at IS NULL;
CREATE INDEX submissions_status ON submissions (website_seq, status, seq);
CREATE INDEX job_executions_started ON job_executions (started_at, id);
CREATE INDEX job_executions_status  ON job_executions (status, started_at, id) WHERE status <> 'running';
CREATE INDEX alerts_by_event    ON alerts (event, created_at, id, private_to) WHERE fired_at > 0;
CREATE INDEX alerts_by_severity ON alerts (severity, created_at, id, private_to) WHERE fired_at > 0;
CREATE INDEX target_schedule_started   ON target_schedule (started_at) WHERE started_at IS NOT NULL;
CREATE INDEX target_schedule_requested ON target_schedule (requested_at) WHERE requested_at IS NOT NULL;
CREATE TABLE alert_sent (
  alert_seq   INTEGER NOT NULL REFERENCES alerts (seq) ON DELETE CASCADE,
  channel_seq INTEGER NOT NULL REFERENCES channels (seq) ON DELETE CASCADE,
  subject_id  TEXT    NOT NULL,
  state       TEXT    NOT NULL CHECK (state IN ('down', 'recovered')),
  since_at    INTEGER NOT NULL, -- start of the condition that was sent
  sent_at     INTEGER NOT NULL,
  PRIMARY KEY (alert_seq, channel_seq, subject_id)
) WITHOUT ROWID;
CREATE INDEX alert_sent_channel ON alert_sent (channel_seq);
CREATE INDEX jobs_retry ON jobs (planned_at) WHERE status = 'failed' AND retry_next_run AND deleted_at IS NULL;
CREATE TABLE archived_short_links (
  seq             INTEGER PRIMARY KEY, -- as in short_links
  short_key       TEXT NOT NULL, -- unique, unless an older instance that still runs has added it again
  long_url        TEXT NOT NULL,
  canonical_url   TEXT NOT NULL,
  title           TEXT NOT NULL,
  search_text     TEXT NOT NULL,
  max_visits      INTEGER NOT NULL CHECK (max_visits >= 0),
  disabled        INTEGER NOT NULL CHECK (disabled IN (0, 1)),
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  version         INTEGER NOT NULL,
  expires_at      INTEGER,
  exhausted_at    INTEGER,
  deleted_at      INTEGER,
  visits          INTEGER NOT NULL CHECK (visits >= 0),
  bots            INTEGER NOT NULL CHECK (bots >= 0),
  last_visited_at INTEGER,
  owner           TEXT NOT NULL,
  private_to      TEXT NOT NULL,
  direct          INTEGER NOT NULL CHECK (direct >= 0),
  previews        INTEGER NOT NULL CHECK (previews >= 0),
  -- When it expired or reached its visit limit, whichever was first. SHORT_KEEP_EXPIRED counts from then on.
  ended_at        INTEGER NOT NULL GENERATED ALWAYS AS (
    CASE WHEN expires_at IS NULL OR exhausted_at < expires_at THEN exhausted_at ELSE expires_at END) STORED
);
CREATE INDEX archived_short_links_key       ON archived_short_links (short_key);
CREATE INDEX archived_short_links_created   ON archived_short_links (created_at, short_key, private_to, disabled) WHERE deleted_at IS NULL;
CREATE INDEX archived_short_links_disabled  ON archived_short_links (created_at, short_key) WHERE disabled AND deleted_at IS NULL;
CREATE INDEX archived_short_links_canonical ON archived_short_links (canonical_url, private_to);
CREATE INDEX archived_short_links_version   ON archived_short_links (version);
CREATE INDEX archived_short_links_ended     ON archived_short_links (ended_at) WHERE deleted_at IS NULL;
CREATE INDEX archived_short_links_deleted   ON archived_short_links (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE TABLE archived_short_link_days (
  short_link_seq INTEGER NOT NULL REFERENCES archived_short_links (seq) ON DELETE CASCADE,
  bucket_start   INTEGER NOT NULL,
  bots           INTEGER NOT NULL CHECK (bots >= 0),
  desktop        INTEGER NOT NULL CHECK (desktop >= 0),
  mobile         INTEGER NOT NULL CHECK (mobile >= 0),
  tablet         INTEGER NOT NULL CHECK (tablet >= 0),
  other          INTEGER NOT NULL CHECK (other >= 0),
  previews       INTEGER NOT NULL CHECK (previews >= 0),
  PRIMARY KEY (short_link_seq, bucket_start)
) WITHOUT ROWID;
CREATE INDEX archived_short_link_days_start ON archived_short_link_days (bucket_start);
CREATE TABLE archived_short_link_referrers (
  short_link_seq INTEGER NOT NULL REFERENCES archived_short_links (seq) ON DELETE CASCADE,
  host           TEXT NOT NULL,
  visits         INTEGER NOT NULL CHECK (visits >= 0),
  PRIMARY KEY (short_link_seq, host)
) WITHOUT ROWID;
CREATE INDEX websites_indexnow_refused ON websites (created_at, id, private_to) WHERE indexnow_error <> '' AND indexnow_key <> '' AND deleted_at IS NULL;
INSERT INTO schema_migrations VALUES (193);
INSERT INTO short_link_version (id, newest) VALUES (1, 0);
INSERT INTO scheduler_totals (id) VALUES (1);
INSERT INTO row_counts (counted, block, private_to, state, slot, n) VALUES ('tags', 0, '', '', 0, 0);
