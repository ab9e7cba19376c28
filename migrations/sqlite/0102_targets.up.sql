-- Targets, their checks and history, and status pages.
-- Times (…_at) are microseconds since 1970, NULL = never. Other units are in the column's name.

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
  due_at            INTEGER,          -- since when a check is due
  next_check_at     INTEGER,          -- when it may be claimed; NULL = not to be checked
  postponed_until   INTEGER,          -- the end of the last pause that the host asked for; NULL = it did not
  claimed_by        TEXT    REFERENCES instances (id) ON DELETE SET NULL, -- NULL = free
  -- What the checks found.
  state             TEXT    NOT NULL CHECK (state IN ('pending', 'up', 'down')),
  state_since       INTEGER NOT NULL, -- microseconds since 1970
  last_checked_at   INTEGER,
  last_status_code  INTEGER NOT NULL CHECK (last_status_code BETWEEN 0 AND 999), -- 0 = no response
  last_latency_ms   INTEGER NOT NULL CHECK (last_latency_ms >= 0),
  last_error        TEXT    NOT NULL,
  failures          INTEGER NOT NULL CHECK (failures >= 0), -- in a row
  tls_expires_at    INTEGER,
  known_until       INTEGER,          -- microseconds since 1970, until when the last result determines the state; NULL = the state is unknown
  beats             BLOB    NOT NULL, -- the last 40 checks, packed
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
);

-- The URL of a deleted target can be added again.
CREATE UNIQUE INDEX targets_canonical_url ON targets (canonical_url) WHERE deleted_at IS NULL;
CREATE INDEX targets_created ON targets (created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX targets_host    ON targets (host, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX targets_state   ON targets (paused, state, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX targets_tls     ON targets (tls_expires_at) WHERE tls_expires_at IS NOT NULL;
CREATE INDEX targets_deleted ON targets (deleted_at) WHERE deleted_at IS NOT NULL;
-- Claiming removes a target from the first index, so the due ones come first in it.
CREATE INDEX targets_due     ON targets (next_check_at) WHERE next_check_at IS NOT NULL AND claimed_by IS NULL;
CREATE INDEX targets_claimed ON targets (claimed_by) WHERE claimed_by IS NOT NULL;

-- Each check, for RESULT_RETENTION. Its id in the API is made from the primary key.
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
-- Few checks fail, so searching for those needs an index of its own.
CREATE INDEX check_results_failed        ON check_results (checked_at, target_seq) WHERE outcome <> 0;
CREATE INDEX check_results_target_failed ON check_results (target_seq, checked_at) WHERE outcome <> 0;

-- The sums of whole hours and days (UTC). Throttled checks are not counted.
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

-- Public pages of groups of targets.
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
