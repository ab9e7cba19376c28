-- Targets, their schedule, checks and history, and status pages.
-- Times (…_at) are microseconds since 1970, NULL = never. Other units are in the column's name.

-- A URL is unique among shared targets, and among the private targets of each owner. The URL of a deleted target can be
-- added again.
CREATE TABLE targets (
  seq               INTEGER PRIMARY KEY AUTOINCREMENT,
  id                TEXT    NOT NULL UNIQUE,
  -- What the user sets.
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
  deleted_at        INTEGER, -- NULL = not deleted; the reaper deletes it later
  -- The results of the checks.
  state             TEXT    NOT NULL CHECK (state IN ('pending', 'up', 'down')),
  state_since       INTEGER NOT NULL, -- microseconds since 1970
  last_checked_at   INTEGER,
  last_status_code  INTEGER NOT NULL CHECK (last_status_code BETWEEN 0 AND 999), -- 0 = no response
  last_latency_ms   INTEGER NOT NULL CHECK (last_latency_ms >= 0),
  last_error        TEXT    NOT NULL,
  failures          INTEGER NOT NULL CHECK (failures >= 0), -- in a row
  tls_expires_at    INTEGER,
  -- Microseconds since 1970, the end of the time for which the last check counts; NULL = unknown.
  known_until       INTEGER,
  recent_checks     BLOB    NOT NULL, -- the last 40, packed
  -- The current hour and day. They move to target_hours and target_days when they end.
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
  day_latency       BLOB    NOT NULL,
  owner             TEXT    NOT NULL DEFAULT 'system', -- who added it
  private_to        TEXT    NOT NULL DEFAULT '' -- the owner, if only the owner and admins see it; '' = shared
);

-- private_to is at the end of indexes of lists and counts, so that rows of other owners are skipped without reading
-- them.
CREATE INDEX targets_deleted ON targets (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE UNIQUE INDEX targets_canonical_url ON targets (canonical_url, private_to) WHERE deleted_at IS NULL;
CREATE INDEX targets_created ON targets (created_at, id, private_to) WHERE deleted_at IS NULL;
CREATE INDEX targets_host ON targets (host, created_at, id, private_to) WHERE deleted_at IS NULL;
CREATE INDEX targets_state ON targets (paused, state, created_at, id, private_to) WHERE deleted_at IS NULL;
CREATE INDEX targets_down ON targets (state_since, seq, private_to)
  WHERE state = 'down' AND NOT paused AND deleted_at IS NULL;
-- A list by certificate sorts keys from the index before it reads targets.
CREATE INDEX targets_tls ON targets (tls_expires_at, seq, created_at, id, private_to, paused, deleted_at)
  WHERE tls_expires_at IS NOT NULL AND NOT paused AND deleted_at IS NULL;

-- The queue of checks. Each check changes it twice, so it is not in the wide rows of targets with their many indexes.
CREATE TABLE target_schedule (
  target_seq      INTEGER NOT NULL PRIMARY KEY REFERENCES targets (seq) ON DELETE CASCADE,
  due_at          INTEGER, -- since when a check is due; NULL = not to be checked
  next_check_at   INTEGER, -- when it may be claimed; NULL = not to be checked
  postponed_until INTEGER, -- end of the last pause that the host demanded; NULL = none
  claimed_by      TEXT    REFERENCES instances (id) ON DELETE SET NULL, -- NULL = free
  started_at      INTEGER, -- start of a check that takes longer than a second; NULL = none
  requested_at    INTEGER -- request of a check, which is then the first of its host; NULL = none
);

-- Claiming removes a target from the first index, so that those that are due come first in it.
CREATE INDEX target_schedule_due ON target_schedule (next_check_at)
  WHERE next_check_at IS NOT NULL AND claimed_by IS NULL;
CREATE INDEX target_schedule_claimed ON target_schedule (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX target_schedule_started ON target_schedule (started_at) WHERE started_at IS NOT NULL;
CREATE INDEX target_schedule_requested ON target_schedule (requested_at) WHERE requested_at IS NOT NULL;

-- Checks, kept for RESULT_RETENTION. The id of a check in the API is made from the primary key.
CREATE TABLE check_results (
  target_seq  INTEGER NOT NULL REFERENCES targets (seq) ON DELETE CASCADE,
  checked_at  INTEGER NOT NULL,
  outcome     INTEGER NOT NULL CHECK (outcome IN (0, 1, 2)), -- up, down, throttled
  status_code INTEGER NOT NULL CHECK (status_code BETWEEN 0 AND 999), -- 0 = no response
  latency_ms  INTEGER NOT NULL CHECK (latency_ms >= 0),
  attempts    INTEGER NOT NULL CHECK (attempts >= 0),
  error       TEXT    NOT NULL, -- '' = none
  interval_ms INTEGER NOT NULL CHECK (interval_ms >= 0), -- between checks at that time
  PRIMARY KEY (target_seq, checked_at)
) WITHOUT ROWID;

CREATE INDEX check_results_newest ON check_results (checked_at, target_seq);
-- Few checks fail, so a list of them needs its own index.
CREATE INDEX check_results_failed ON check_results (checked_at, target_seq) WHERE outcome <> 0;
CREATE INDEX check_results_target_failed ON check_results (target_seq, checked_at) WHERE outcome <> 0;

-- Sums of whole hours (UTC), without throttled checks.
CREATE TABLE target_hours (
  target_seq   INTEGER NOT NULL REFERENCES targets (seq) ON DELETE CASCADE,
  bucket_start INTEGER NOT NULL, -- microseconds since 1970
  checks       INTEGER NOT NULL CHECK (checks >= 0),
  known_from   INTEGER, -- microseconds since 1970, when the state was first known; NULL = never
  up_us        INTEGER NOT NULL CHECK (up_us >= 0), -- time with the state up
  down_us      INTEGER NOT NULL CHECK (down_us >= 0), -- time with the state down
  latency      BLOB    NOT NULL, -- histogram, packed
  PRIMARY KEY (target_seq, bucket_start)
) WITHOUT ROWID;

-- Sums of whole days (UTC).
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

-- The times in which targets were down.
CREATE TABLE outages (
  id         TEXT    NOT NULL PRIMARY KEY,
  target_seq INTEGER NOT NULL REFERENCES targets (seq) ON DELETE CASCADE,
  started_at INTEGER NOT NULL, -- time of the first failed check
  ended_at   INTEGER, -- time of the first check that did not fail; NULL = not over
  cause      TEXT    NOT NULL -- error of the first failed check
) WITHOUT ROWID;

CREATE INDEX outages_target ON outages (target_seq, started_at, id);
CREATE INDEX outages_newest ON outages (started_at, id);
CREATE INDEX outages_open ON outages (target_seq) WHERE ended_at IS NULL;

-- Public pages that show groups of targets.
CREATE TABLE status_pages (
  id          TEXT    NOT NULL PRIMARY KEY,
  slug        TEXT    NOT NULL UNIQUE,
  title       TEXT    NOT NULL,
  description TEXT    NOT NULL,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL
) WITHOUT ROWID;

-- The targets of status pages.
CREATE TABLE status_page_targets (
  page_id    TEXT    NOT NULL REFERENCES status_pages (id) ON DELETE CASCADE,
  target_seq INTEGER NOT NULL REFERENCES targets (seq) ON DELETE CASCADE,
  position   INTEGER NOT NULL CHECK (position >= 0),
  PRIMARY KEY (page_id, target_seq)
) WITHOUT ROWID;

CREATE INDEX status_page_targets_target ON status_page_targets (target_seq);

-- Numbers of targets in row_counts, by owner and status. Deleted targets have the state "deleted".
CREATE TRIGGER targets_count_insert AFTER INSERT ON targets BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  VALUES ('targets', 0, NEW.private_to,
    CASE WHEN NEW.deleted_at IS NOT NULL THEN 'deleted' WHEN NEW.paused THEN 'paused' ELSE NEW.state END, 0, 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER targets_count_delete AFTER DELETE ON targets BEGIN
  UPDATE row_counts SET n = n - 1 WHERE counted = 'targets' AND block = 0 AND private_to = OLD.private_to
    AND state = CASE WHEN OLD.deleted_at IS NOT NULL THEN 'deleted' WHEN OLD.paused THEN 'paused' ELSE OLD.state END
      AND slot = 0;
END;

CREATE TRIGGER targets_count_update AFTER UPDATE OF private_to, paused, state, deleted_at ON targets
WHEN OLD.private_to <> NEW.private_to OR OLD.paused <> NEW.paused OR OLD.state <> NEW.state
  OR (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL) BEGIN
  UPDATE row_counts SET n = n - 1 WHERE counted = 'targets' AND block = 0 AND private_to = OLD.private_to
    AND state = CASE WHEN OLD.deleted_at IS NOT NULL THEN 'deleted' WHEN OLD.paused THEN 'paused' ELSE OLD.state END
      AND slot = 0;
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  VALUES ('targets', 0, NEW.private_to,
    CASE WHEN NEW.deleted_at IS NOT NULL THEN 'deleted' WHEN NEW.paused THEN 'paused' ELSE NEW.state END, 0, 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;
