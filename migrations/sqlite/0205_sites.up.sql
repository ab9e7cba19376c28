-- Websites, their sitemaps and pages, and what search engines were told and said about them. The ids of sitemaps, pages
-- and submissions in the API are made from created_at and seq.
-- Times (…_at) are microseconds since 1970, NULL = never. Other units are in the column's name.

-- Websites whose pages are submitted to search engines.
CREATE TABLE websites (
  seq                     INTEGER PRIMARY KEY AUTOINCREMENT,
  id                      TEXT    NOT NULL UNIQUE,
  name                    TEXT    NOT NULL,
  site_url                TEXT    NOT NULL, -- https://example.com/ with a path that ends in /, or sc-domain:example.com
  -- Its pages qualify for Google's Indexing API.
  indexing_enabled        INTEGER NOT NULL CHECK (indexing_enabled IN (0, 1)),
  -- New and changed pages are submitted without a request.
  auto_submit             INTEGER NOT NULL CHECK (auto_submit IN (0, 1)),
  created_at              INTEGER NOT NULL,
  updated_at              INTEGER NOT NULL,
  deleted_at              INTEGER, -- NULL = not deleted
  credentials             BLOB, -- the key of a Google service account, encrypted; NULL = none
  client_email            TEXT    NOT NULL, -- of the service account, '' = none
  project_id              TEXT    NOT NULL, -- of the service account, '' = none
  -- Of each service: why it last refused all calls of the website ('' = it did not), refusals in a row, and the time of
  -- the next call (NULL = any time). The first is Google's Indexing API, the second Google's Search Console.
  indexing_error          TEXT    NOT NULL,
  indexing_failures       INTEGER NOT NULL CHECK (indexing_failures >= 0),
  indexing_retry_at       INTEGER,
  console_error           TEXT    NOT NULL,
  console_failures        INTEGER NOT NULL CHECK (console_failures >= 0),
  console_retry_at        INTEGER,
  indexnow_error          TEXT    NOT NULL,
  indexnow_failures       INTEGER NOT NULL CHECK (indexnow_failures >= 0),
  indexnow_retry_at       INTEGER,
  indexnow_key            TEXT    NOT NULL, -- '' = IndexNow is not used
  indexnow_verified_at    INTEGER, -- when the key file was last found on the site
  robots_read_at          INTEGER, -- when sitemaps were last read from robots.txt
  sitemaps_read_at        INTEGER, -- when its sitemaps were last read
  sitemaps_requested_at   INTEGER, -- request to read its sitemaps; NULL = none
  submit_requested_at     INTEGER, -- request to submit its pages; NULL = none
  verify_requested_at     INTEGER, -- request to verify its pages; NULL = none
  sitemaps_claimed_by     TEXT    REFERENCES instances (id) ON DELETE SET NULL, -- reads its sitemaps
  submission_claimed_by   TEXT    REFERENCES instances (id) ON DELETE SET NULL, -- submits its pages
  verification_claimed_by TEXT    REFERENCES instances (id) ON DELETE SET NULL, -- verifies its pages
  robots_error            TEXT    NOT NULL DEFAULT '', -- why robots.txt could not be read last, '' = it could
  owner                   TEXT    NOT NULL DEFAULT 'system', -- who added it
  private_to              TEXT    NOT NULL DEFAULT '', -- the owner, if only the owner and admins see it; '' = shared
  google_accepted_at      INTEGER -- when Google first accepted a request with the credentials; NULL = unknown
);

CREATE INDEX websites_deleted ON websites (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX websites_wanted ON websites (seq)
  WHERE sitemaps_requested_at IS NOT NULL OR submit_requested_at IS NOT NULL OR verify_requested_at IS NOT NULL;
CREATE INDEX websites_sitemaps_by ON websites (sitemaps_claimed_by) WHERE sitemaps_claimed_by IS NOT NULL;
CREATE INDEX websites_submission_by ON websites (submission_claimed_by) WHERE submission_claimed_by IS NOT NULL;
CREATE INDEX websites_verification_by ON websites (verification_claimed_by) WHERE verification_claimed_by IS NOT NULL;
CREATE UNIQUE INDEX websites_site_url ON websites (site_url, private_to) WHERE deleted_at IS NULL;
CREATE INDEX websites_created ON websites (created_at, id, private_to, deleted_at) WHERE deleted_at IS NULL;
-- SQLite prefers the index that was created last, so this one follows the index of all websites.
CREATE INDEX websites_refused ON websites (created_at, id, private_to)
  WHERE (indexing_error <> '' OR console_error <> '') AND deleted_at IS NULL;
-- An error may remain after IndexNow is disabled.
CREATE INDEX websites_indexnow_refused ON websites (created_at, id, private_to)
  WHERE indexnow_error <> '' AND indexnow_key <> '' AND deleted_at IS NULL;

-- Sitemaps, and indexes of sitemaps, of websites.
CREATE TABLE sitemaps (
  seq             INTEGER PRIMARY KEY AUTOINCREMENT,
  website_seq     INTEGER NOT NULL REFERENCES websites (seq) ON DELETE CASCADE,
  url             TEXT    NOT NULL, -- as it is requested
  origin          TEXT    NOT NULL CHECK (origin IN ('given', 'robots', 'index')), -- by whom it was named
  parent_seq      INTEGER REFERENCES sitemaps (seq) ON DELETE CASCADE, -- the index with it; NULL unless origin is index
  -- The first of the indexes above it, NULL unless origin is index.
  root_seq        INTEGER REFERENCES sitemaps (seq) ON DELETE CASCADE,
  depth           INTEGER NOT NULL CHECK (depth >= 0), -- number of indexes above it
  kind            TEXT    NOT NULL CHECK (kind IN ('', 'sitemap', 'index', 'text', 'feed')), -- '' = not read yet
  pages           INTEGER NOT NULL CHECK (pages >= 0), -- in the last reading; of an index: sitemaps
  skipped         INTEGER NOT NULL CHECK (skipped >= 0), -- entries that were skipped in the last reading
  skipped_reasons TEXT    NOT NULL, -- the first reasons, a line each
  etag            TEXT    NOT NULL, -- of the last reading, '' = none
  last_modified   TEXT    NOT NULL,
  content_hash    BLOB, -- SHA-256 of the last reading
  generation      INTEGER NOT NULL CHECK (generation >= 0), -- incremented each time that its entries are stored
  created_at      INTEGER NOT NULL,
  last_read_at    INTEGER, -- when it was last requested, successfully or not
  changed_at      INTEGER, -- when its entries last changed
  submitted_at    INTEGER, -- when it was last submitted to Google
  submit_error    TEXT    NOT NULL, -- of the last submission, '' = none
  last_error      TEXT    NOT NULL, -- why it could not be read in full, '' = it could
  deleted_at      INTEGER, -- its pages are being detached; NULL = not deleted
  complete        INTEGER NOT NULL DEFAULT 0 CHECK (complete IN (0, 1)), -- all entries of content_hash are stored
  UNIQUE (website_seq, url)
);

CREATE INDEX sitemaps_website ON sitemaps (website_seq, seq);
CREATE INDEX sitemaps_parent ON sitemaps (parent_seq) WHERE parent_seq IS NOT NULL;
CREATE INDEX sitemaps_root ON sitemaps (root_seq) WHERE root_seq IS NOT NULL;
CREATE INDEX sitemaps_broken ON sitemaps (website_seq) WHERE last_error <> '' AND deleted_at IS NULL;

-- Pages of websites, from their sitemaps.
CREATE TABLE pages (
  seq                      INTEGER PRIMARY KEY AUTOINCREMENT,
  website_seq              INTEGER NOT NULL REFERENCES websites (seq) ON DELETE CASCADE,
  url                      TEXT    NOT NULL, -- as it is requested
  path_start               INTEGER NOT NULL CHECK (path_start > 0), -- position of the path in url, from 1
  lastmod                  INTEGER, -- microseconds since 1970, by its sitemap; NULL = unknown
  auto_priority            INTEGER NOT NULL CHECK (auto_priority BETWEEN 10 AND 100), -- by lastmod
  manual_priority          INTEGER CHECK (manual_priority BETWEEN 1 AND 100), -- a user's; NULL = none
  -- 100 minus the priority, so that the queue is read upwards.
  queue_rank               INTEGER NOT NULL CHECK (queue_rank BETWEEN 0 AND 99),
  reprioritize_at          INTEGER, -- when auto_priority changes next; NULL = never
  boosted_at               INTEGER, -- the bulk change that can be undone
  previous_manual_priority INTEGER, -- manual_priority before that change
  status                   TEXT    NOT NULL
    CHECK (status IN ('pending', 'submitted', 'indexed', 'not_indexed', 'failed')),
  cause                    TEXT    NOT NULL, -- of failures and unindexed pages, which are grouped by it; '' = none
  queued_for_google        INTEGER NOT NULL CHECK (queued_for_google IN (0, 1)), -- waits to be submitted to Google
  queued_for_indexnow      INTEGER NOT NULL CHECK (queued_for_indexnow IN (0, 1)), -- waits to be submitted by IndexNow
  submit_after             INTEGER, -- microseconds since 1970, not submitted earlier; NULL = any time
  attempts                 INTEGER NOT NULL CHECK (attempts >= 0), -- failed submissions in a row
  submit_requested_at      INTEGER, -- request to submit it; NULL = none
  removal                  INTEGER NOT NULL CHECK (removal IN (0, 1)), -- the request is to remove it
  verify_requested_at      INTEGER, -- request to verify it; NULL = none
  unverified               INTEGER NOT NULL CHECK (unverified IN (0, 1)), -- submitted after it was last verified
  created_at               INTEGER NOT NULL,
  last_submitted_at        INTEGER,
  last_verified_at         INTEGER, -- last answer of Google whether it is indexed
  verify_attempted_at      INTEGER, -- last question to Google, answered or not
  last_error               TEXT    NOT NULL, -- of the last submission or verification, '' = none
  gone_at                  INTEGER, -- since when no sitemap has it; NULL = a sitemap has it
  -- Google's answer about the page.
  verdict                  TEXT    NOT NULL, -- PASS, PARTIAL, FAIL or NEUTRAL; '' = unknown
  coverage_state           TEXT    NOT NULL, -- such as Submitted and indexed
  robots_state             TEXT    NOT NULL, -- ALLOWED or DISALLOWED
  indexing_state           TEXT    NOT NULL, -- such as BLOCKED_BY_META_TAG
  fetch_state              TEXT    NOT NULL, -- such as SOFT_404
  google_canonical         TEXT    NOT NULL,
  user_canonical           TEXT    NOT NULL,
  last_crawled_at          INTEGER, -- by Google
  notified_at              INTEGER, -- last notification that the Indexing API has received
  changed_at               INTEGER, -- when a sitemap last had it again, or with a later modification
  UNIQUE (url, website_seq)
);

-- Lists in the order of the queue. The list of all statuses reads five ranges of the first index.
CREATE INDEX pages_queue ON pages (website_seq, status, queue_rank, seq) WHERE gone_at IS NULL;
CREATE INDEX pages_gone ON pages (website_seq, seq) WHERE gone_at IS NOT NULL;
CREATE INDEX pages_gone_at ON pages (gone_at) WHERE gone_at IS NOT NULL;
CREATE INDEX pages_cause ON pages (website_seq, cause, queue_rank, seq) WHERE cause <> '' AND gone_at IS NULL;
-- Pages that changed after their submission. Pages that were never submitted are in pages_queue.
CREATE INDEX pages_google ON pages (website_seq, queue_rank, seq) WHERE queued_for_google AND status <> 'pending';
CREATE INDEX pages_indexnow ON pages (website_seq, queue_rank, seq) WHERE queued_for_indexnow;
-- Pending pages about which Google gave no clear answer.
CREATE INDEX pages_unclear ON pages (website_seq, status, queue_rank, seq)
  WHERE status = 'pending' AND last_verified_at IS NOT NULL AND gone_at IS NULL;
CREATE INDEX pages_wanted ON pages (website_seq, submit_requested_at) WHERE submit_requested_at IS NOT NULL;
CREATE INDEX pages_reprior ON pages (reprioritize_at) WHERE reprioritize_at IS NOT NULL;
CREATE INDEX pages_boosted ON pages (website_seq, boosted_at) WHERE boosted_at IS NOT NULL;
-- The order of verification: requested pages, submitted ones, those that were never verified (pages_queue), then the
-- longest ago.
CREATE INDEX pages_verify ON pages (website_seq, verify_requested_at) WHERE verify_requested_at IS NOT NULL;
CREATE INDEX pages_unverified ON pages (website_seq, last_submitted_at) WHERE unverified AND gone_at IS NULL;
CREATE INDEX pages_verified ON pages (website_seq, verify_attempted_at)
  WHERE verify_attempted_at IS NOT NULL AND gone_at IS NULL;
-- Submitted pages about which Google gave no clear answer.
CREATE INDEX pages_submitted_unclear ON pages (website_seq, status, queue_rank, seq)
  WHERE status = 'submitted' AND last_verified_at IS NOT NULL AND NOT unverified AND gone_at IS NULL;

-- The pages of sitemaps. A page that no sitemap has is gone.
CREATE TABLE sitemap_pages (
  sitemap_seq INTEGER NOT NULL REFERENCES sitemaps (seq) ON DELETE CASCADE,
  page_seq    INTEGER NOT NULL REFERENCES pages (seq) ON DELETE CASCADE,
  generation  INTEGER NOT NULL, -- of the sitemap, when it last had the page
  PRIMARY KEY (sitemap_seq, page_seq)
) WITHOUT ROWID;

CREATE INDEX sitemap_pages_page ON sitemap_pages (page_seq);

-- Numbers of pages of a website, changed with each page. Pages that no sitemap has have the status gone.
CREATE TABLE page_counts (
  website_seq INTEGER NOT NULL REFERENCES websites (seq) ON DELETE CASCADE,
  status      TEXT    NOT NULL CHECK (status IN ('pending', 'submitted', 'indexed', 'not_indexed', 'failed', 'gone')),
  cause       TEXT    NOT NULL,
  pages       INTEGER NOT NULL,
  PRIMARY KEY (website_seq, status, cause)
) WITHOUT ROWID;

CREATE INDEX page_counts_failed ON page_counts (website_seq) WHERE status = 'failed';

-- Numbers of pages by status at the end of each day (UTC).
CREATE TABLE coverage_days (
  website_seq INTEGER NOT NULL REFERENCES websites (seq) ON DELETE CASCADE,
  day_at      INTEGER NOT NULL, -- start of the day
  status      TEXT    NOT NULL CHECK (status IN ('pending', 'submitted', 'indexed', 'not_indexed', 'failed', 'gone')),
  pages       INTEGER NOT NULL CHECK (pages >= 0),
  PRIMARY KEY (website_seq, day_at, status)
) WITHOUT ROWID;

CREATE INDEX coverage_days_day ON coverage_days (day_at);

-- Submissions to search engines. A row is stored before it is sent.
CREATE TABLE submissions (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT,
  website_seq INTEGER NOT NULL REFERENCES websites (seq) ON DELETE CASCADE,
  page_seq    INTEGER, -- NULL = of many pages, or of a sitemap
  url         TEXT    NOT NULL, -- of the page or sitemap, '' = of many pages
  method      TEXT    NOT NULL CHECK (method IN ('indexing_api', 'sitemap', 'indexnow')),
  action      TEXT    NOT NULL CHECK (action IN ('updated', 'deleted')),
  pages       INTEGER NOT NULL CHECK (pages >= 0),
  -- With sent, there is no answer yet, or it was lost.
  status      TEXT    NOT NULL CHECK (status IN ('sent', 'accepted', 'refused', 'failed')),
  status_code INTEGER NOT NULL, -- 0 = no answer
  error       TEXT    NOT NULL, -- '' = none
  created_at  INTEGER NOT NULL,
  answered_at INTEGER
);

CREATE INDEX submissions_website ON submissions (website_seq, seq);
CREATE INDEX submissions_page ON submissions (page_seq, seq) WHERE page_seq IS NOT NULL;
CREATE INDEX submissions_created ON submissions (created_at);
CREATE INDEX submissions_status ON submissions (website_seq, status, seq);

-- Requests to Google by quota and day. A scope is project:… or property:….
CREATE TABLE quota_days (
  scope   TEXT    NOT NULL,
  kind    TEXT    NOT NULL CHECK (kind IN ('publish', 'inspection')),
  ends_at INTEGER NOT NULL, -- midnight in California, the end of the day
  used    INTEGER NOT NULL CHECK (used >= 0),
  PRIMARY KEY (scope, kind, ends_at)
) WITHOUT ROWID;

CREATE INDEX quota_days_ends ON quota_days (ends_at);

-- Requests to Google of the last minute, and those under way.
CREATE TABLE quota_uses (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT,
  scope       TEXT    NOT NULL,
  kind        TEXT    NOT NULL CHECK (kind IN ('publish', 'metadata', 'inspection')),
  used_at     INTEGER NOT NULL,
  website_seq INTEGER NOT NULL,
  claimed_by  TEXT    REFERENCES instances (id) ON DELETE SET NULL -- while it is under way
);

CREATE INDEX quota_uses_scope ON quota_uses (scope, used_at, kind);
CREATE INDEX quota_uses_used ON quota_uses (used_at) WHERE claimed_by IS NULL;
CREATE INDEX quota_uses_website ON quota_uses (website_seq) WHERE claimed_by IS NOT NULL;
CREATE INDEX quota_uses_claimed ON quota_uses (claimed_by) WHERE claimed_by IS NOT NULL;
