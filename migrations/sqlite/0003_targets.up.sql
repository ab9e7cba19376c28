-- Watched targets, their checks and history (seed 000). Times are microseconds since 1970, NULL = never.

CREATE TABLE targets (
  seq              INTEGER PRIMARY KEY AUTOINCREMENT,
  id               TEXT    NOT NULL UNIQUE,
  -- What the owner set.
  url              TEXT    NOT NULL, -- as it was given
  canonical_url    TEXT    NOT NULL,
  host             TEXT    NOT NULL, -- without port
  name             TEXT    NOT NULL,
  folded           TEXT    NOT NULL, -- name and address as they are searched
  interval_seconds INTEGER NOT NULL, -- 0 = CHECK_INTERVAL
  expect_status    TEXT    NOT NULL, -- '' = 200-399
  expect_keyword   TEXT    NOT NULL,
  expect_absent    TEXT    NOT NULL,
  expect_latency   INTEGER NOT NULL, -- milliseconds, 0 = any
  paused           INTEGER NOT NULL,
  created_at       INTEGER NOT NULL,
  updated_at       INTEGER NOT NULL,
  deleted_at       INTEGER,          -- NULL = there; else it can be restored until it is purged
  -- When it is checked next, and by whom it is being checked.
  due_at           INTEGER,          -- since when a check is due
  next_check_at    INTEGER,          -- when it is looked at; NULL = not to be checked
  claimed_by       TEXT    NOT NULL, -- '' = free
  -- What the checks found.
  state            TEXT    NOT NULL, -- pending, up or down
  state_since      INTEGER NOT NULL,
  last_checked_at  INTEGER,
  last_status_code INTEGER NOT NULL, -- 0 = no answer
  last_latency_ms  INTEGER NOT NULL,
  last_error       TEXT    NOT NULL,
  failures         INTEGER NOT NULL, -- in a row
  tls_expires_at   INTEGER,
  beats            BLOB    NOT NULL, -- the last 40 checks, packed
  -- The hour and the day under way; they move to target_hours and target_days when they end.
  hour_at          INTEGER, -- NULL = none yet
  hour_checks      INTEGER NOT NULL,
  hour_up          INTEGER NOT NULL,
  hour_latency     BLOB    NOT NULL,
  day_at           INTEGER, -- NULL = none yet
  day_checks       INTEGER NOT NULL,
  day_up           INTEGER NOT NULL,
  day_latency      BLOB    NOT NULL
);

-- A deleted target gives its address free.
CREATE UNIQUE INDEX targets_canonical_url ON targets (canonical_url) WHERE deleted_at IS NULL;
CREATE INDEX targets_created ON targets (created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX targets_host    ON targets (host, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX targets_state   ON targets (paused, state, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX targets_tls     ON targets (tls_expires_at) WHERE tls_expires_at IS NOT NULL;
CREATE INDEX targets_deleted ON targets (deleted_at) WHERE deleted_at IS NOT NULL;
-- Claiming takes a target out of the index, so that the due ones stand first in it.
CREATE INDEX targets_due     ON targets (next_check_at) WHERE next_check_at IS NOT NULL AND claimed_by = '';

-- The programs that check. Who does not renew its lease loses its claims.
CREATE TABLE checkers (
  id          TEXT    NOT NULL PRIMARY KEY,
  lease_until INTEGER NOT NULL
) WITHOUT ROWID;

-- Each check, for RESULT_RETENTION. The id on the wire is made of the key.
CREATE TABLE check_results (
  target_seq  INTEGER NOT NULL REFERENCES targets (seq),
  checked_at  INTEGER NOT NULL,
  outcome     INTEGER NOT NULL, -- 0 up, 1 down, 2 throttled
  status_code INTEGER NOT NULL, -- 0 = no answer
  latency_ms  INTEGER NOT NULL,
  attempts    INTEGER NOT NULL,
  error       TEXT    NOT NULL, -- '' = none
  PRIMARY KEY (target_seq, checked_at)
) WITHOUT ROWID;

CREATE INDEX check_results_newest ON check_results (checked_at, target_seq);
-- Few checks fail, so looking for those needs an index of its own.
CREATE INDEX check_results_failed        ON check_results (checked_at, target_seq) WHERE outcome <> 0;
CREATE INDEX check_results_target_failed ON check_results (target_seq, checked_at) WHERE outcome <> 0;

-- The sums of whole hours and days (UTC). Throttled checks count neither way.
CREATE TABLE target_hours (
  target_seq INTEGER NOT NULL REFERENCES targets (seq),
  at         INTEGER NOT NULL,
  checks     INTEGER NOT NULL,
  up         INTEGER NOT NULL,
  latency    BLOB    NOT NULL, -- histogram, packed
  PRIMARY KEY (target_seq, at)
) WITHOUT ROWID;

CREATE TABLE target_days (
  target_seq INTEGER NOT NULL REFERENCES targets (seq),
  at         INTEGER NOT NULL,
  checks     INTEGER NOT NULL,
  up         INTEGER NOT NULL,
  latency    BLOB    NOT NULL,
  PRIMARY KEY (target_seq, at)
) WITHOUT ROWID;

CREATE TABLE outages (
  id         TEXT    NOT NULL PRIMARY KEY,
  target_seq INTEGER NOT NULL REFERENCES targets (seq),
  started_at INTEGER NOT NULL, -- of the first check that failed
  ended_at   INTEGER,          -- of the first that did not; NULL = it goes on
  cause      TEXT    NOT NULL  -- the error of the first check
) WITHOUT ROWID;

CREATE INDEX outages_target ON outages (target_seq, started_at, id);
CREATE INDEX outages_newest ON outages (started_at, id);
CREATE INDEX outages_open   ON outages (target_seq) WHERE ended_at IS NULL;

-- The public face of groups of targets.
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
  position   INTEGER NOT NULL,
  PRIMARY KEY (page_id, target_seq)
) WITHOUT ROWID;

CREATE INDEX status_page_targets_target ON status_page_targets (target_seq);

-- Which resource a POST with an Idempotency-Key made, for 24 hours.
CREATE TABLE idempotency_keys (
  scope       TEXT    NOT NULL, -- the route's noun: target
  key         TEXT    NOT NULL,
  resource_id TEXT    NOT NULL,
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (scope, key)
) WITHOUT ROWID;

CREATE INDEX idempotency_keys_created ON idempotency_keys (scope, created_at);
