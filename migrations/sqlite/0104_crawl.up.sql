-- Crawling: sources, jobs and their executions, the frontier, hosts, pages, discovered links and logs.
-- Times (…_at) are microseconds since 1970, NULL = never. Other units are in the column's name.

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
);

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
  held                  INTEGER NOT NULL CHECK (held IN (0, 1)), -- its source is disabled
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
  deleted_at            INTEGER,
  CHECK (next_run_at IS NULL OR status IN ('pending', 'scheduled') AND lock_token IS NULL)
);

CREATE INDEX jobs_created ON jobs (created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX jobs_status  ON jobs (status, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX jobs_source  ON jobs (source_seq, created_at, id);
CREATE INDEX jobs_changed ON jobs (updated_at, seq);
CREATE INDEX jobs_deleted ON jobs (deleted_at) WHERE deleted_at IS NOT NULL;
-- Those that wait for their time. Locking removes a job from this index, so the due ones come first in it.
CREATE INDEX jobs_due     ON jobs (next_run_at, interval_seconds) WHERE next_run_at IS NOT NULL AND NOT held AND deleted_at IS NULL;
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
  has_frontier     INTEGER NOT NULL CHECK (has_frontier IN (0, 1)), -- its crawl may have entries in frontier
  UNIQUE (job_seq, execution_number)
);

CREATE INDEX job_executions_newest  ON job_executions (job_seq, started_at, id);
CREATE INDEX job_executions_running ON job_executions (crawl_seq) WHERE status = 'running';
CREATE INDEX job_executions_ended   ON job_executions (completed_at) WHERE status <> 'running';
-- Crawls whose entries the reaper deletes, the first to end first.
CREATE INDEX job_executions_reap    ON job_executions (completed_at) WHERE has_frontier AND status <> 'running';
CREATE INDEX job_executions_crawl   ON job_executions (crawl_seq, seq);

-- The log of an execution, in pieces of whole lines.
CREATE TABLE job_logs (
  execution_seq INTEGER NOT NULL REFERENCES job_executions (seq) ON DELETE CASCADE,
  first_line    INTEGER NOT NULL CHECK (first_line >= 1),
  lines         INTEGER NOT NULL CHECK (lines >= 1), -- how many
  text          TEXT    NOT NULL,
  PRIMARY KEY (execution_seq, first_line)
) WITHOUT ROWID;

-- Hosts that are crawled. An instance claims a host for a while, so no two requests are made to it at a time.
CREATE TABLE crawl_hosts (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  host       TEXT    NOT NULL UNIQUE, -- with its port, unless that is the scheme's own
  next_at    INTEGER,                 -- when it may be asked next; NULL = the frontier has nothing for it
  claimed_by TEXT    REFERENCES instances (id) ON DELETE SET NULL,
  claim      INTEGER NOT NULL CHECK (claim >= 0), -- how often it was claimed
  delay_ms   INTEGER NOT NULL CHECK (delay_ms >= 0), -- between two requests, as it was last
  failures   INTEGER NOT NULL CHECK (failures >= 0), -- in a row
  slow       INTEGER NOT NULL CHECK (slow IN (0, 1)), -- the last request took long
  tried_at   INTEGER
);

CREATE INDEX crawl_hosts_due     ON crawl_hosts (next_at) WHERE next_at IS NOT NULL AND claimed_by IS NULL;
CREATE INDEX crawl_hosts_claimed ON crawl_hosts (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX crawl_hosts_idle    ON crawl_hosts (tried_at) WHERE next_at IS NULL;

-- URLs to fetch and those that were fetched, by crawl. An id in the API is made from created_at and seq.
CREATE TABLE frontier (
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
  UNIQUE (crawl_seq, url_hash)
);

-- What is left to fetch of a host, in the order in which it is fetched.
CREATE INDEX frontier_open   ON frontier (host_seq, attempts, depth, seq) WHERE status IN ('pending', 'fetching');
CREATE INDEX frontier_failed ON frontier (seq) WHERE status = 'failed';

-- Pages by source. An id in the API is made from created_at and seq.
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
  outlinks       TEXT    NOT NULL, -- the URLs to follow, for a later answer that it is unchanged; '' = not kept
  created_at     INTEGER NOT NULL,
  fetched_at     INTEGER NOT NULL,
  changed_at     INTEGER NOT NULL, -- when content_hash last changed
  UNIQUE (source_seq, url_hash)
);

CREATE INDEX crawled_pages_source ON crawled_pages (source_seq, seq);

-- Links of crawled pages that lead out of the allowed domains. An id in the API is made from created_at and seq.
CREATE TABLE discovered_links (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  source_seq INTEGER NOT NULL,
  url        TEXT    NOT NULL,
  url_hash   BLOB    NOT NULL,
  text       TEXT    NOT NULL, -- of the link
  found_on   TEXT    NOT NULL, -- URL of the page
  created_at INTEGER NOT NULL,
  UNIQUE (source_seq, url_hash)
);

CREATE INDEX discovered_links_source ON discovered_links (source_seq, seq);

-- Figures of the scheduler on all instances together, in one row.
CREATE TABLE scheduler_totals (
  id                  INTEGER PRIMARY KEY CHECK (id = 1),
  stale_locks_cleared INTEGER NOT NULL DEFAULT 0 CHECK (stale_locks_cleared >= 0),
  completed           INTEGER NOT NULL DEFAULT 0 CHECK (completed >= 0), -- executions
  failed              INTEGER NOT NULL DEFAULT 0 CHECK (failed >= 0),    -- without those that were interrupted
  duration_us         INTEGER NOT NULL DEFAULT 0 CHECK (duration_us >= 0), -- of those that completed
  last_poll_at        INTEGER
);

INSERT INTO scheduler_totals (id) VALUES (1);
