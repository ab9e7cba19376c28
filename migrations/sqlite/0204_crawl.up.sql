-- Crawling: sources, jobs and their executions, hosts, the frontier, pages with their texts, feeds, and the archive. An
-- id in the API of a row without the column id is made from created_at and seq.
-- Times (…_at) are microseconds since 1970, NULL = never. Other units are in the column's name.

-- What is crawled: a start page, and the limits of its crawls.
CREATE TABLE sources (
  seq             INTEGER PRIMARY KEY AUTOINCREMENT,
  id              TEXT    NOT NULL UNIQUE,
  external_id     TEXT    NOT NULL, -- in the source manager from which it was synced; '' = added here
  name            TEXT    NOT NULL,
  url             TEXT    NOT NULL, -- as it was given
  host            TEXT    NOT NULL, -- of the URL, without port
  search_text     TEXT    NOT NULL, -- name and URL as they are searched
  enabled         INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  max_depth       INTEGER NOT NULL CHECK (max_depth >= 0), -- 0 = 3
  allowed_domains TEXT    NOT NULL, -- separated by spaces; '' = the host of the URL
  rate_limit_ms   INTEGER NOT NULL CHECK (rate_limit_ms >= 0), -- between two requests to a host
  interval_count  INTEGER NOT NULL CHECK (interval_count >= 0), -- 0 = none
  interval_type   TEXT    NOT NULL CHECK (interval_type IN ('minutes', 'hours', 'days')),
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  deleted_at      INTEGER, -- NULL = not deleted; the reaper deletes it later
  owner           TEXT    NOT NULL DEFAULT 'system', -- who added it
  private_to      TEXT    NOT NULL DEFAULT '', -- the owner, if only the owner and admins see it; '' = shared
  port            INTEGER NOT NULL DEFAULT 0 CHECK (port BETWEEN 0 AND 65535) -- of the URL; 0 = 80 or 443
);

CREATE INDEX sources_created ON sources (created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX sources_host ON sources (host, created_at) WHERE deleted_at IS NULL;
CREATE INDEX sources_deleted ON sources (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE UNIQUE INDEX sources_external ON sources (external_id) WHERE external_id <> '' AND deleted_at IS NULL;

-- Crawl jobs of sources: once, or at an interval.
CREATE TABLE jobs (
  seq                   INTEGER PRIMARY KEY AUTOINCREMENT,
  id                    TEXT    NOT NULL UNIQUE,
  source_seq            INTEGER NOT NULL REFERENCES sources (seq) ON DELETE CASCADE,
  url                   TEXT    NOT NULL, -- of the start page, as it is requested
  status                TEXT    NOT NULL
    CHECK (status IN ('pending', 'scheduled', 'running', 'paused', 'completed', 'failed', 'cancelled')),
  interval_count        INTEGER NOT NULL CHECK (interval_count >= 0), -- 0 = one-time
  interval_type         TEXT    NOT NULL CHECK (interval_type IN ('minutes', 'hours', 'days')),
  interval_seconds      INTEGER NOT NULL CHECK (interval_seconds >= 0), -- the current one, with adaptive scheduling
  adaptive_scheduling   INTEGER NOT NULL CHECK (adaptive_scheduling IN (0, 1)),
  source_disabled       INTEGER NOT NULL CHECK (source_disabled IN (0, 1)),
  next_run_at           INTEGER, -- when it may start; NULL = it does not wait, but is running, paused or over
  planned_at            INTEGER, -- the next run by the schedule; retries do not change it
  moved_at              INTEGER, -- when a rebalance last moved it
  paused_at             INTEGER,
  cancelled_at          INTEGER,
  max_retries           INTEGER NOT NULL CHECK (max_retries >= 0),
  retry_backoff_seconds INTEGER NOT NULL CHECK (retry_backoff_seconds >= 0),
  current_retry_count   INTEGER NOT NULL CHECK (current_retry_count >= 0),
  metadata              TEXT    NOT NULL, -- a JSON object
  executions            INTEGER NOT NULL CHECK (executions >= 0), -- the number of the newest execution
  -- The lock: the instance that holds it, and a token that no lock had before.
  lock_token            TEXT, -- NULL = not locked
  lock_acquired_at      INTEGER,
  -- NULL with a lock_token: the instance has ended
  claimed_by            TEXT    REFERENCES instances (id) ON DELETE SET NULL,
  -- The results of the last executions.
  crawl_seq             INTEGER, -- an interrupted crawl to continue
  content_hash          TEXT    NOT NULL, -- of the start page's text, '' = unknown
  unchanged_count       INTEGER NOT NULL CHECK (unchanged_count >= 0), -- crawls in a row with the same content_hash
  last_error            TEXT    NOT NULL, -- of the last execution, '' = none
  created_at            INTEGER NOT NULL,
  updated_at            INTEGER NOT NULL,
  deleted_at            INTEGER,
  forced                INTEGER NOT NULL DEFAULT 0 CHECK (forced IN (0, 1)), -- a user started the next or current run
  name                  TEXT    NOT NULL DEFAULT '', -- '' = that of its source
  search_text           TEXT    NOT NULL DEFAULT '', -- name as it is searched
  -- It failed with all retries, and runs at its next time.
  retry_next_run        INTEGER NOT NULL DEFAULT 0 CHECK (retry_next_run IN (0, 1)),
  consecutive_failures  INTEGER NOT NULL DEFAULT 0 CHECK (consecutive_failures >= 0),
  CHECK (next_run_at IS NULL OR status IN ('pending', 'scheduled') AND lock_token IS NULL)
);

CREATE INDEX jobs_created ON jobs (created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX jobs_status ON jobs (status, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX jobs_source ON jobs (source_seq, created_at, id);
CREATE INDEX jobs_changed ON jobs (updated_at, seq);
CREATE INDEX jobs_deleted ON jobs (deleted_at) WHERE deleted_at IS NOT NULL;
-- Jobs that wait. Locking removes a job from this index, so that those that are due come first in it.
CREATE INDEX jobs_due ON jobs (next_run_at, interval_seconds)
  WHERE next_run_at IS NOT NULL AND NOT source_disabled AND deleted_at IS NULL;
CREATE INDEX jobs_locked ON jobs (lock_token) WHERE lock_token IS NOT NULL;
CREATE INDEX jobs_claimed ON jobs (claimed_by) WHERE claimed_by IS NOT NULL;
-- Jobs with more than 100 executions, of which the reaper deletes the oldest.
CREATE INDEX jobs_many ON jobs (executions) WHERE executions > 100;
-- Failed jobs that the scheduler retries.
CREATE INDEX jobs_retry ON jobs (planned_at) WHERE status = 'failed' AND retry_next_run AND deleted_at IS NULL;

-- Runs of jobs.
CREATE TABLE job_executions (
  seq              INTEGER PRIMARY KEY AUTOINCREMENT,
  id               TEXT    NOT NULL UNIQUE,
  job_seq          INTEGER NOT NULL REFERENCES jobs (seq) ON DELETE CASCADE,
  execution_number INTEGER NOT NULL CHECK (execution_number >= 1),
  status           TEXT    NOT NULL CHECK (status IN ('running', 'completed', 'failed', 'cancelled')),
  lock_token       TEXT    NOT NULL, -- of the job when it began
  crawl_seq        INTEGER NOT NULL, -- its own seq, or that of the interrupted execution it continues
  url              TEXT    NOT NULL, -- of the start page
  started_at       INTEGER NOT NULL,
  completed_at     INTEGER,
  progress_at      INTEGER NOT NULL, -- when its progress was last stored
  retry_attempt    INTEGER NOT NULL CHECK (retry_attempt >= 0),
  items_crawled    INTEGER NOT NULL CHECK (items_crawled >= 0),
  items_indexed    INTEGER NOT NULL CHECK (items_indexed >= 0),
  queued           INTEGER NOT NULL, -- entries of the frontier that are not finished
  fetched          INTEGER NOT NULL CHECK (fetched >= 0), -- entries that are done
  failed           INTEGER NOT NULL CHECK (failed >= 0), -- entries that failed
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
  pages_new        INTEGER NOT NULL DEFAULT 0 CHECK (pages_new >= 0),
  pages_changed    INTEGER NOT NULL DEFAULT 0 CHECK (pages_changed >= 0),
  pages_gone       INTEGER NOT NULL DEFAULT 0 CHECK (pages_gone >= 0),
  broken_links     INTEGER NOT NULL DEFAULT 0 CHECK (broken_links >= 0),
  reported_page    INTEGER, -- the last page in its report; NULL = the report is complete, or there is none
  cancelled_by     TEXT    NOT NULL DEFAULT '', -- name of the actor, '' = not cancelled
  UNIQUE (job_seq, execution_number)
);

CREATE INDEX job_executions_newest ON job_executions (job_seq, started_at, id);
CREATE INDEX job_executions_running ON job_executions (crawl_seq) WHERE status = 'running';
CREATE INDEX job_executions_ended ON job_executions (completed_at) WHERE status <> 'running';
-- Crawls whose entries the reaper deletes, the first to end first.
CREATE INDEX job_executions_reap ON job_executions (completed_at) WHERE has_frontier AND status <> 'running';
CREATE INDEX job_executions_crawl ON job_executions (crawl_seq, seq);
CREATE INDEX job_executions_report ON job_executions (seq) WHERE reported_page IS NOT NULL;
-- Executions of all jobs, the newest first, also by status.
CREATE INDEX job_executions_started ON job_executions (started_at, id);
CREATE INDEX job_executions_status ON job_executions (status, started_at, id) WHERE status <> 'running';

-- Logs of executions, in pieces of whole lines.
CREATE TABLE job_logs (
  execution_seq INTEGER NOT NULL REFERENCES job_executions (seq) ON DELETE CASCADE,
  first_line    INTEGER NOT NULL CHECK (first_line >= 1),
  lines         INTEGER NOT NULL CHECK (lines >= 1), -- number of lines
  text          TEXT    NOT NULL,
  PRIMARY KEY (execution_seq, first_line)
) WITHOUT ROWID;

-- Statistics of the scheduler on all instances, in one row.
CREATE TABLE scheduler_totals (
  id                  INTEGER PRIMARY KEY CHECK (id = 1),
  stale_locks_cleared INTEGER NOT NULL DEFAULT 0 CHECK (stale_locks_cleared >= 0),
  completed           INTEGER NOT NULL DEFAULT 0 CHECK (completed >= 0), -- executions
  failed              INTEGER NOT NULL DEFAULT 0 CHECK (failed >= 0), -- without those that were interrupted
  duration_us         INTEGER NOT NULL DEFAULT 0 CHECK (duration_us >= 0), -- of those that completed
  last_poll_at        INTEGER
);
INSERT INTO scheduler_totals (id) VALUES (1);

-- Hosts that are crawled. An instance claims a host for a while, so that a host gets one request at a time.
CREATE TABLE crawl_hosts (
  seq             INTEGER PRIMARY KEY AUTOINCREMENT,
  host            TEXT    NOT NULL UNIQUE, -- with its port, unless it is the default port
  next_at         INTEGER, -- time of the next request; NULL = the frontier has no URL of it
  claimed_by      TEXT    REFERENCES instances (id) ON DELETE SET NULL,
  claim           INTEGER NOT NULL CHECK (claim >= 0), -- number of claims
  delay_ms        INTEGER NOT NULL CHECK (delay_ms >= 0), -- between two requests
  failures        INTEGER NOT NULL CHECK (failures >= 0), -- in a row
  slow            INTEGER NOT NULL CHECK (slow IN (0, 1)), -- the last request took long
  last_attempt_at INTEGER,
  silent_since    INTEGER -- microseconds since 1970, since when it has not responded; NULL = unknown
);

CREATE INDEX crawl_hosts_due ON crawl_hosts (next_at) WHERE next_at IS NOT NULL AND claimed_by IS NULL;
CREATE INDEX crawl_hosts_claimed ON crawl_hosts (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX crawl_hosts_idle ON crawl_hosts (last_attempt_at) WHERE next_at IS NULL;

-- URLs to fetch, and those that were fetched, by crawl. A URL that was added by hand or is of a feed waits once for all
-- shared sources, and once for each private one.
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
  redirects  INTEGER NOT NULL CHECK (redirects >= 0), -- that were followed to this URL
  last_error TEXT    NOT NULL, -- '' = none
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  linked_as  TEXT    NOT NULL DEFAULT '', -- the URL that redirected to this one; '' = none
  broken     INTEGER NOT NULL DEFAULT 0 CHECK (broken IN (0, 1)), -- there is no page, so links to it are reported
  scope_seq  INTEGER NOT NULL DEFAULT 0, -- the source, if it is private and the URL was added by hand; else 0
  cookies    TEXT    NOT NULL DEFAULT '', -- that redirects have set, for the next request; '' = none
  UNIQUE (crawl_seq, url_hash, scope_seq)
);

CREATE INDEX frontier_open ON frontier (host_seq, attempts, depth, seq) WHERE status IN ('pending', 'fetching');
CREATE INDEX frontier_broken ON frontier (crawl_seq, seq) WHERE broken;
CREATE INDEX frontier_linked ON frontier (crawl_seq, linked_as) WHERE linked_as <> '';
CREATE INDEX frontier_status ON frontier (status, seq) WHERE status <> 'done';
CREATE INDEX frontier_crawl ON frontier (crawl_seq, seq);
CREATE INDEX frontier_source ON frontier (source_seq, seq);

-- Pages by source.
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
  changed_at     INTEGER NOT NULL, -- when content_hash last changed
  author         TEXT    NOT NULL DEFAULT '',
  published_at   INTEGER,
  modified_at    INTEGER,
  headings       TEXT    NOT NULL DEFAULT '', -- a line each
  json_ld        TEXT    NOT NULL DEFAULT '', -- a JSON array, '' = none
  word_count     INTEGER NOT NULL DEFAULT 0 CHECK (word_count >= 0),
  links          BLOB, -- lines of URL, tab, text of the link, compressed; NULL = not kept
  versions       INTEGER NOT NULL DEFAULT 0 CHECK (versions >= 0), -- number of the newest version
  text_version   INTEGER NOT NULL DEFAULT 0 CHECK (text_version >= 0), -- the version with its text; 0 = none
  revision       INTEGER NOT NULL DEFAULT 0 CHECK (revision >= 0), -- of what searches show
  gone_at        INTEGER, -- NULL = it exists
  unindexed      INTEGER NOT NULL DEFAULT 0 CHECK (unindexed IN (0, 1)), -- the search index is behind
  unsent         INTEGER NOT NULL DEFAULT 0 CHECK (unsent IN (0, 1)), -- the search engine is behind
  deleted_at     INTEGER, -- NULL = not deleted
  canonical      TEXT    NOT NULL DEFAULT '', -- canonical URL that the page names, absolute; '' = none
  -- It duplicates its canonical URL, so lists and searches omit it.
  duplicate      INTEGER NOT NULL DEFAULT 0 CHECK (duplicate IN (0, 1)),
  UNIQUE (source_seq, url_hash)
);

CREATE INDEX crawled_pages_source ON crawled_pages (source_seq, seq);
CREATE INDEX crawled_pages_unindexed ON crawled_pages (fetched_at) WHERE unindexed;
CREATE INDEX crawled_pages_unsent ON crawled_pages (seq) WHERE unsent;
CREATE INDEX crawled_pages_deleted ON crawled_pages (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX crawled_pages_broken ON crawled_pages (crawl_seq, seq) WHERE status_code >= 400;

-- Versions of pages: one each time that the text changed. The newest 20 of a page are kept.
CREATE TABLE page_versions (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  page_seq     INTEGER NOT NULL,
  version      INTEGER NOT NULL CHECK (version >= 1),
  change       TEXT    NOT NULL CHECK (change IN ('new', 'changed', 'gone', 'back')),
  crawl_seq    INTEGER NOT NULL, -- 0 = the URL was added by hand
  status_code  INTEGER NOT NULL CHECK (status_code BETWEEN 0 AND 999), -- 0 = no page linked to it
  title        TEXT    NOT NULL,
  content_hash TEXT    NOT NULL,
  word_count   INTEGER NOT NULL CHECK (word_count >= 0),
  text         BLOB, -- compressed; NULL = the page is gone
  created_at   INTEGER NOT NULL,
  UNIQUE (page_seq, version)
);

CREATE INDEX page_versions_crawl ON page_versions (crawl_seq, seq);
CREATE INDEX page_versions_change ON page_versions (crawl_seq, change, seq);

-- The search index of pages. The program splits, folds and marks words. The newest pages come first: rowid is a large
-- number minus the seq of the page.
CREATE VIRTUAL TABLE page_index USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii');

-- Links of pages to URLs that a crawl could not fetch.
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

-- Links of pages to URLs outside of the allowed domains. A deleted link can be restored until the reaper deletes it.
CREATE TABLE discovered_links (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  source_seq INTEGER NOT NULL,
  url        TEXT    NOT NULL,
  url_hash   BLOB    NOT NULL,
  text       TEXT    NOT NULL, -- of the link
  found_on   TEXT    NOT NULL, -- URL of the page
  created_at INTEGER NOT NULL,
  deleted_at INTEGER, -- NULL = not deleted
  UNIQUE (source_seq, url_hash)
);

CREATE INDEX discovered_links_source ON discovered_links (source_seq, seq);
CREATE INDEX discovered_links_deleted ON discovered_links (deleted_at) WHERE deleted_at IS NOT NULL;

-- Feeds of sources.
CREATE TABLE feeds (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT,
  source_seq     INTEGER NOT NULL REFERENCES sources (seq) ON DELETE CASCADE,
  url            TEXT    NOT NULL, -- as it is requested
  url_hash       BLOB    NOT NULL, -- the first 16 bytes of SHA-256
  title          TEXT    NOT NULL, -- '' = unknown
  etag           TEXT    NOT NULL, -- of the last response, '' = none
  last_modified  TEXT    NOT NULL,
  created_at     INTEGER NOT NULL,
  last_polled_at INTEGER,
  read_at        INTEGER, -- when it was last read in full
  next_poll_at   INTEGER, -- NULL = it is no longer polled
  failures       INTEGER NOT NULL CHECK (failures >= 0), -- polls that failed in a row
  last_error     TEXT    NOT NULL, -- of the last poll, '' = none
  entries_found  INTEGER NOT NULL CHECK (entries_found >= 0), -- entries that were new
  claimed_by     TEXT    REFERENCES instances (id) ON DELETE SET NULL, -- NULL = free
  truncated      INTEGER NOT NULL DEFAULT 0 CHECK (truncated IN (0, 1)), -- longer than 15 MiB, or more than 500 entries
  UNIQUE (source_seq, url_hash)
);

CREATE INDEX feeds_due ON feeds (next_poll_at) WHERE next_poll_at IS NOT NULL AND claimed_by IS NULL;
CREATE INDEX feeds_claimed ON feeds (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX feeds_source ON feeds (source_seq, seq);

-- Entries that feeds had, so that each is fetched once.
CREATE TABLE feed_entries (
  feed_seq INTEGER NOT NULL REFERENCES feeds (seq) ON DELETE CASCADE,
  url_hash BLOB    NOT NULL, -- as in feeds
  seen_at  INTEGER NOT NULL, -- when the feed last had it
  PRIMARY KEY (feed_seq, url_hash)
) WITHOUT ROWID;

CREATE INDEX feed_entries_seen ON feed_entries (seen_at);
CREATE INDEX feed_entries_feed ON feed_entries (feed_seq, seen_at);

-- Objects of the archive, each with many bodies of pages. A row is written before its object, and deleted after it.
CREATE TABLE archive_packs (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  key        TEXT    NOT NULL UNIQUE, -- name of the object
  size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0), -- of the object; 0 = unknown
  -- Its object may be deleted at any moment, so it gets no bodies.
  deleting   INTEGER NOT NULL CHECK (deleting IN (0, 1)),
  due_at     INTEGER -- when it is deleted or its bodies are moved to another; NULL = enough of it is used
);

CREATE INDEX archive_packs_due ON archive_packs (due_at) WHERE due_at IS NOT NULL;

-- Bodies, which the archive has once each, and which an archived page names.
CREATE TABLE archived_bodies (
  hash         BLOB    NOT NULL PRIMARY KEY, -- SHA-256 of the body
  pack_seq     INTEGER REFERENCES archive_packs (seq), -- NULL = it is lost
  start_bytes  INTEGER NOT NULL DEFAULT 0 CHECK (start_bytes >= 0), -- in the object
  length_bytes INTEGER NOT NULL DEFAULT 0 CHECK (length_bytes >= 0) -- compressed; 0 = to the end of the object
);

CREATE INDEX archived_bodies_pack ON archived_bodies (pack_seq, length_bytes);

-- Copies of pages: which page had which body.
CREATE TABLE archived_pages (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  source_seq INTEGER NOT NULL,
  url_hash   BLOB    NOT NULL, -- as in crawled_pages
  hash       BLOB    NOT NULL REFERENCES archived_bodies (hash),
  size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0), -- of the body, uncompressed
  created_at INTEGER NOT NULL, -- when the page first had the body
  fetched_at INTEGER NOT NULL, -- when it last had the body
  UNIQUE (hash, source_seq, url_hash)
);

CREATE INDEX archived_pages_newest ON archived_pages (source_seq, url_hash, fetched_at);
CREATE INDEX archived_pages_old ON archived_pages (fetched_at);

-- Numbers of jobs in row_counts, by the owner of their source and status. Deleted jobs have the state "deleted".
CREATE TRIGGER jobs_count_insert AFTER INSERT ON jobs BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  VALUES ('jobs', 0, (SELECT private_to FROM sources WHERE seq = NEW.source_seq),
    CASE WHEN NEW.deleted_at IS NULL THEN NEW.status ELSE 'deleted' END, 0, 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER jobs_count_delete AFTER DELETE ON jobs BEGIN
  UPDATE row_counts SET n = n - 1 WHERE counted = 'jobs' AND block = 0
    AND private_to = (SELECT private_to FROM sources WHERE seq = OLD.source_seq)
    AND state = CASE WHEN OLD.deleted_at IS NULL THEN OLD.status ELSE 'deleted' END AND slot = 0;
END;

CREATE TRIGGER jobs_count_update AFTER UPDATE OF source_seq, status, deleted_at ON jobs
WHEN OLD.source_seq <> NEW.source_seq OR OLD.status <> NEW.status
  OR (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL) BEGIN
  UPDATE row_counts SET n = n - 1 WHERE counted = 'jobs' AND block = 0
    AND private_to = (SELECT private_to FROM sources WHERE seq = OLD.source_seq)
    AND state = CASE WHEN OLD.deleted_at IS NULL THEN OLD.status ELSE 'deleted' END AND slot = 0;
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  VALUES ('jobs', 0, (SELECT private_to FROM sources WHERE seq = NEW.source_seq),
    CASE WHEN NEW.deleted_at IS NULL THEN NEW.status ELSE 'deleted' END, 0, 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER sources_count_jobs AFTER UPDATE OF private_to ON sources WHEN OLD.private_to <> NEW.private_to BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  SELECT 'jobs', 0, c.private_to, CASE WHEN j.deleted_at IS NULL THEN j.status ELSE 'deleted' END, 0, sum(c.n)
    FROM jobs AS j JOIN (SELECT OLD.private_to AS private_to, -1 AS n UNION ALL SELECT NEW.private_to, 1) AS c
  WHERE j.source_seq = NEW.seq GROUP BY 3, 4
  ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;

-- Jobs are deleted before their source, which their triggers read.
CREATE TRIGGER sources_delete_jobs BEFORE DELETE ON sources BEGIN
  DELETE FROM jobs WHERE source_seq = OLD.seq;
END;
