-- Scheduled jobs and their runs (seed 002, ADR-003 and ADR-007). Times are
-- microseconds since 1970, NULL = never; durations are nanoseconds.

CREATE TABLE scheduled_jobs (
  id              TEXT    NOT NULL PRIMARY KEY,
  schedule        TEXT    NOT NULL, -- '' = the program has no such job any more
  runs            INTEGER NOT NULL DEFAULT 0,
  successes       INTEGER NOT NULL DEFAULT 0,
  failures        INTEGER NOT NULL DEFAULT 0,
  overlap_skips   INTEGER NOT NULL DEFAULT 0,
  last_started_at INTEGER,
  last_duration   INTEGER NOT NULL DEFAULT 0,
  last_error      TEXT    NOT NULL DEFAULT '',
  next_run_at     INTEGER,
  requested_at    INTEGER,                     -- NULL = nobody asks for a run
  lease_owner     TEXT    NOT NULL DEFAULT '', -- id of the run under way, '' = none
  lease_until     INTEGER NOT NULL DEFAULT 0   -- 0 = free
) WITHOUT ROWID;

CREATE TABLE job_runs (
  id         TEXT    NOT NULL PRIMARY KEY,
  job_id     TEXT    NOT NULL REFERENCES scheduled_jobs (id) ON DELETE CASCADE,
  started_at INTEGER NOT NULL,
  duration   INTEGER NOT NULL,
  "trigger"  TEXT    NOT NULL, -- schedule or manual
  summary    TEXT    NOT NULL,
  error      TEXT    NOT NULL  -- '' = it succeeded
) WITHOUT ROWID;

CREATE INDEX job_runs_newest ON job_runs (job_id, started_at, id);
