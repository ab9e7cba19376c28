-- What all systems use: running instances, scheduled jobs, idempotency keys, statistics of the cleanup, numbers of
-- rows, and events on their way to alerts.
-- Times (…_at) are microseconds since 1970, NULL = never. Other units are in the column's name.

-- The running instances. An instance that does not renew its heartbeat is deleted by another one, and everything that
-- it had claimed is free at once: each claimed_by is a foreign key with ON DELETE SET NULL.
CREATE TABLE instances (
  id           TEXT    NOT NULL PRIMARY KEY,
  started_at   INTEGER NOT NULL,
  heartbeat_at INTEGER NOT NULL
) WITHOUT ROWID;

-- Scheduled jobs: the statistics of each, its next run, and the run that was requested or is under way.
CREATE TABLE scheduled_jobs (
  id               TEXT    NOT NULL PRIMARY KEY,
  schedule         TEXT    NOT NULL, -- '' = the program no longer has this job
  runs             INTEGER NOT NULL DEFAULT 0 CHECK (runs >= 0),
  successes        INTEGER NOT NULL DEFAULT 0 CHECK (successes >= 0),
  failures         INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  overlap_skips    INTEGER NOT NULL DEFAULT 0 CHECK (overlap_skips >= 0),
  last_started_at  INTEGER,
  last_duration_ns INTEGER NOT NULL DEFAULT 0 CHECK (last_duration_ns >= 0),
  last_error       TEXT    NOT NULL DEFAULT '',
  next_run_at      INTEGER,
  requested_at     INTEGER, -- NULL = no run is requested
  run_id           TEXT    NOT NULL DEFAULT '', -- the run under way, '' = none; without claimed_by its instance died
  claimed_by       TEXT    REFERENCES instances (id) ON DELETE SET NULL,
  -- With start, the job was overdue when the program started.
  requested_by     TEXT    NOT NULL DEFAULT 'manual' CHECK (requested_by IN ('manual', 'start'))
) WITHOUT ROWID;

-- Jobs that an instance has claimed, to release them when it dies.
CREATE INDEX scheduled_jobs_claimed ON scheduled_jobs (claimed_by) WHERE claimed_by IS NOT NULL;

-- The last runs of each job.
CREATE TABLE job_runs (
  id          TEXT    NOT NULL PRIMARY KEY,
  job_id      TEXT    NOT NULL REFERENCES scheduled_jobs (id) ON DELETE CASCADE,
  started_at  INTEGER NOT NULL,
  duration_ns INTEGER NOT NULL CHECK (duration_ns >= 0),
  "trigger"   TEXT    NOT NULL CHECK ("trigger" IN ('schedule', 'manual', 'start')),
  summary     TEXT    NOT NULL,
  error       TEXT    NOT NULL -- '' = it succeeded
) WITHOUT ROWID;

CREATE INDEX job_runs_newest ON job_runs (job_id, started_at, id);

-- The resource that a POST with an Idempotency-Key created, kept for 24 hours. resource_id may be of any system, so it
-- references no table.
CREATE TABLE idempotency_keys (
  scope       TEXT    NOT NULL, -- the route's noun: target
  key         TEXT    NOT NULL,
  resource_id TEXT    NOT NULL,
  created_at  INTEGER NOT NULL,
  PRIMARY KEY (scope, key)
) WITHOUT ROWID;

CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);

-- How much the reaper has deleted of each kind. It is written in the transactions that delete.
CREATE TABLE cleanup_totals (
  kind            TEXT    NOT NULL PRIMARY KEY,
  cleaned         INTEGER NOT NULL CHECK (cleaned >= 0),
  last_batch_size INTEGER NOT NULL CHECK (last_batch_size >= 0),
  successful_runs INTEGER NOT NULL CHECK (successful_runs >= 0),
  failed_runs     INTEGER NOT NULL CHECK (failed_runs >= 0),
  duration_ns     INTEGER NOT NULL CHECK (duration_ns >= 0), -- of the successful runs together
  last_run_at     INTEGER -- end of the last successful run
) WITHOUT ROWID;

-- The last runs of the reaper, by kind.
CREATE TABLE cleanup_runs (
  started_at  INTEGER NOT NULL,
  kind        TEXT    NOT NULL,
  duration_ns INTEGER NOT NULL CHECK (duration_ns >= 0),
  cleaned     INTEGER NOT NULL CHECK (cleaned >= 0),
  error       TEXT    NOT NULL, -- '' = it succeeded
  PRIMARY KEY (started_at, kind)
) WITHOUT ROWID;

-- Numbers of rows, so that lists and pages need not count them. Triggers of links, tags, targets, jobs and sources
-- maintain them.
CREATE TABLE row_counts (
  counted    TEXT    NOT NULL, -- the table
  block      INTEGER NOT NULL, -- of links: seq / 4096, by which a list finds a late page; else 0
  private_to TEXT    NOT NULL, -- of the rows
  state      TEXT    NOT NULL, -- such as the status; the triggers of the table define it
  slot       INTEGER NOT NULL, -- always 0: only PostgreSQL has several writers
  n          INTEGER NOT NULL,
  PRIMARY KEY (counted, block, private_to, state, slot)
) WITHOUT ROWID;

-- Events of all systems, stored in the transaction that causes them, until alerts have processed them.
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
  at           INTEGER NOT NULL, -- when it was detected
  failures     INTEGER NOT NULL CHECK (failures >= 0), -- in a row, 0 = they are not counted
  detail       TEXT    NOT NULL, -- "unexpected status 500"
  private_to   TEXT    NOT NULL DEFAULT '' -- the owner of a private subject, '' = shared
);
