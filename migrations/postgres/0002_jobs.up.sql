-- Scheduled jobs and their runs (seed 002, ADR-003 and ADR-007). Times are
-- microseconds since 1970, NULL = never; durations are nanoseconds.
-- Text that is compared or sorted by the program is COLLATE "C": byte order, as in SQLite.

CREATE TABLE scheduled_jobs (
  id              TEXT   COLLATE "C" NOT NULL PRIMARY KEY,
  schedule        TEXT   NOT NULL, -- '' = the program has no such job any more
  runs            BIGINT NOT NULL DEFAULT 0,
  successes       BIGINT NOT NULL DEFAULT 0,
  failures        BIGINT NOT NULL DEFAULT 0,
  overlap_skips   BIGINT NOT NULL DEFAULT 0,
  last_started_at BIGINT,
  last_duration   BIGINT NOT NULL DEFAULT 0,
  last_error      TEXT   NOT NULL DEFAULT '',
  next_run_at     BIGINT,
  requested_at    BIGINT,                                 -- NULL = nobody asks for a run
  lease_owner     TEXT   COLLATE "C" NOT NULL DEFAULT '', -- id of the run under way, '' = none
  lease_until     BIGINT NOT NULL DEFAULT 0               -- 0 = free
);

CREATE TABLE job_runs (
  id         TEXT   COLLATE "C" NOT NULL PRIMARY KEY,
  job_id     TEXT   COLLATE "C" NOT NULL REFERENCES scheduled_jobs (id) ON DELETE CASCADE,
  started_at BIGINT NOT NULL,
  duration   BIGINT NOT NULL,
  "trigger"  TEXT   NOT NULL, -- schedule or manual
  summary    TEXT   NOT NULL,
  error      TEXT   NOT NULL  -- '' = it succeeded
);

CREATE INDEX job_runs_newest ON job_runs (job_id, started_at, id);
