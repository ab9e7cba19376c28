-- Websites, their sitemaps and pages, and what search engines were told and said of them. The ids of sitemaps, pages and
-- submissions in the API are made from created_at and seq.
-- Times (…_at) are microseconds since 1970, NULL = never. Other units are in the column's name.

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
  sitemaps_wanted_at   INTEGER,         -- since when somebody waits for its sitemaps to be read
  submit_wanted_at     INTEGER,         -- the same for pages to be submitted
  verify_wanted_at     INTEGER,         -- and to be verified
  sitemaps_by          TEXT REFERENCES instances (id) ON DELETE SET NULL, -- the instance that reads its sitemaps, NULL = none
  submission_by        TEXT REFERENCES instances (id) ON DELETE SET NULL, -- that submits its pages
  verification_by      TEXT REFERENCES instances (id) ON DELETE SET NULL  -- that verifies its pages
);

CREATE UNIQUE INDEX websites_site_url ON websites (site_url) WHERE deleted_at IS NULL;
CREATE INDEX websites_created         ON websites (created_at, id);
CREATE INDEX websites_deleted         ON websites (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX websites_refused         ON websites (created_at, id) WHERE (indexing_error <> '' OR console_error <> '') AND deleted_at IS NULL;
CREATE INDEX websites_wanted          ON websites (seq) WHERE sitemaps_wanted_at IS NOT NULL OR submit_wanted_at IS NOT NULL OR verify_wanted_at IS NOT NULL;
CREATE INDEX websites_sitemaps_by     ON websites (sitemaps_by) WHERE sitemaps_by IS NOT NULL;
CREATE INDEX websites_submission_by   ON websites (submission_by) WHERE submission_by IS NOT NULL;
CREATE INDEX websites_verification_by ON websites (verification_by) WHERE verification_by IS NOT NULL;

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
  skipped_why   TEXT   NOT NULL, -- the first reasons, a line each
  etag          TEXT   NOT NULL, -- of what was read last, '' = none
  last_modified TEXT   NOT NULL,
  content_hash  BLOB,          -- SHA-256 of what was read last
  reading       INTEGER  NOT NULL CHECK (reading >= 0), -- counts the times that its entries were stored
  created_at    INTEGER  NOT NULL,
  last_read_at  INTEGER,           -- when it was last asked for, successfully or not
  changed_at    INTEGER,           -- when its entries last changed
  submitted_at  INTEGER,           -- when Google was last told of it
  submit_error  TEXT   NOT NULL, -- of the last time, '' = none
  last_error    TEXT   NOT NULL, -- why it could not be read, or not in full; '' = it could
  deleted_at    INTEGER,           -- its pages are being detached; NULL = not deleted
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
  path_at           INTEGER  NOT NULL CHECK (path_at > 0), -- where in url the path begins, counted from 1
  lastmod           INTEGER,           -- by its sitemap; NULL = it does not say
  auto_priority     INTEGER  NOT NULL CHECK (auto_priority BETWEEN 10 AND 100), -- by lastmod
  manual_priority   INTEGER  CHECK (manual_priority BETWEEN 1 AND 100), -- a user's; NULL = none
  queue_rank        INTEGER  NOT NULL CHECK (queue_rank BETWEEN 0 AND 99), -- 100 minus the priority that counts, so that the queue is read upwards
  reprioritize_at   INTEGER,           -- when auto_priority changes next; NULL = never
  boosted_at        INTEGER,           -- of the bulk change that can be undone
  manual_before     INTEGER,           -- manual_priority before that change
  status            TEXT   NOT NULL CHECK (status IN ('pending', 'submitted', 'indexed', 'not_indexed', 'failed')),
  cause             TEXT   NOT NULL, -- by which failures and unindexed pages are grouped, '' = none
  for_google        INTEGER NOT NULL CHECK (for_google IN (0, 1)),   -- waits to be submitted to Google
  for_indexnow      INTEGER NOT NULL CHECK (for_indexnow IN (0, 1)), -- waits to be submitted by IndexNow
  submit_after      INTEGER,           -- not to be submitted before this; NULL = at any time
  attempts          INTEGER  NOT NULL CHECK (attempts >= 0), -- that failed in a row
  submit_wanted_at  INTEGER,           -- since when somebody waits for its submission
  removal           INTEGER NOT NULL CHECK (removal IN (0, 1)),  -- of its removal
  verify_wanted_at  INTEGER,           -- and for its verification
  unverified        INTEGER NOT NULL CHECK (unverified IN (0, 1)), -- submitted after it was last verified
  created_at        INTEGER  NOT NULL,
  last_submitted_at INTEGER,
  last_verified_at  INTEGER,           -- when Google last answered whether it is indexed
  asked_at          INTEGER,           -- when Google was last asked, answered or not
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
  notified_at       INTEGER,           -- of the latest notification that the Indexing API has received, by its metadata
  UNIQUE (url, website_seq)
);

-- Lists in the order of the queue; that of all statuses reads five of them.
CREATE INDEX pages_queue      ON pages (website_seq, status, queue_rank, seq) WHERE gone_at IS NULL;
CREATE INDEX pages_gone       ON pages (website_seq, seq) WHERE gone_at IS NOT NULL;
CREATE INDEX pages_gone_at    ON pages (gone_at) WHERE gone_at IS NOT NULL;
CREATE INDEX pages_cause      ON pages (website_seq, cause, queue_rank, seq) WHERE cause <> '' AND gone_at IS NULL;
-- Pages that changed after they were submitted. Those that never were are in pages_queue.
CREATE INDEX pages_google     ON pages (website_seq, queue_rank, seq) WHERE for_google AND status <> 'pending';
CREATE INDEX pages_indexnow   ON pages (website_seq, queue_rank, seq) WHERE for_indexnow;
-- Of these Google said nothing clear.
CREATE INDEX pages_unclear    ON pages (website_seq, status, queue_rank, seq) WHERE status = 'pending' AND last_verified_at IS NOT NULL AND gone_at IS NULL;
CREATE INDEX pages_wanted     ON pages (website_seq, submit_wanted_at) WHERE submit_wanted_at IS NOT NULL;
CREATE INDEX pages_reprior    ON pages (reprioritize_at) WHERE reprioritize_at IS NOT NULL;
CREATE INDEX pages_boosted    ON pages (website_seq, boosted_at) WHERE boosted_at IS NOT NULL;
-- What is verified next: what somebody waits for, what was submitted, what never was verified (pages_queue), and what was
-- verified longest ago.
CREATE INDEX pages_verify     ON pages (website_seq, verify_wanted_at) WHERE verify_wanted_at IS NOT NULL;
CREATE INDEX pages_unverified ON pages (website_seq, last_submitted_at) WHERE unverified AND gone_at IS NULL;
CREATE INDEX pages_verified   ON pages (website_seq, asked_at) WHERE asked_at IS NOT NULL AND gone_at IS NULL;

-- Which sitemaps have a page. A page that none has is gone.
CREATE TABLE sitemap_pages (
  sitemap_seq INTEGER NOT NULL REFERENCES sitemaps (seq) ON DELETE CASCADE,
  page_seq    INTEGER NOT NULL REFERENCES pages (seq) ON DELETE CASCADE,
  reading     INTEGER NOT NULL, -- of the sitemap, when it last had the page
  PRIMARY KEY (sitemap_seq, page_seq)
) WITHOUT ROWID;

CREATE INDEX sitemap_pages_page ON sitemap_pages (page_seq);

-- How many pages a website has in each state, kept current with each change. The status gone is of pages that no sitemap has.
CREATE TABLE page_counts (
  website_seq INTEGER NOT NULL REFERENCES websites (seq) ON DELETE CASCADE,
  status      TEXT  NOT NULL,
  cause       TEXT  NOT NULL,
  pages       INTEGER NOT NULL,
  PRIMARY KEY (website_seq, status, cause)
) WITHOUT ROWID;

-- The same by status at the end of each day, UTC.
CREATE TABLE coverage_days (
  website_seq INTEGER NOT NULL REFERENCES websites (seq) ON DELETE CASCADE,
  day_at      INTEGER NOT NULL, -- when the day begins
  status      TEXT  NOT NULL,
  pages       INTEGER NOT NULL CHECK (pages >= 0),
  PRIMARY KEY (website_seq, day_at, status)
) WITHOUT ROWID;

CREATE INDEX coverage_days_day ON coverage_days (day_at);

-- What search engines were told. It is stored before it is sent.
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

-- Requests to Google that count against a quota. scope is project:… or property:….
CREATE TABLE quota_days (
  scope TEXT  NOT NULL,
  kind  TEXT  NOT NULL CHECK (kind IN ('publish', 'inspection')),
  ends_at INTEGER NOT NULL, -- when the day ends, midnight in California
  used  INTEGER NOT NULL CHECK (used >= 0),
  PRIMARY KEY (scope, kind, ends_at)
) WITHOUT ROWID;

CREATE INDEX quota_days_ends ON quota_days (ends_at);

-- The same of the last minute, and those under way.
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
