-- What every system uses: running instances, scheduled jobs, idempotency keys and the record of the reaper.
-- Times (…_at) are microseconds since 1970, NULL = never. Other units are in the column's name.
-- Text that the program compares or sorts is COLLATE "C": byte order, as in SQLite.

-- The running instances. An instance that does not renew its heartbeat is deleted by another one, and everything that it
-- had claimed is free at once: each claimed_by is a foreign key with ON DELETE SET NULL.
CREATE TABLE instances (
  id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  started_at   BIGINT NOT NULL,
  heartbeat_at BIGINT NOT NULL
);

CREATE TABLE scheduled_jobs (
  id               TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  schedule         TEXT NOT NULL, -- '' = the program has no such job any more
  runs             BIGINT NOT NULL DEFAULT 0 CHECK (runs >= 0),
  successes        BIGINT NOT NULL DEFAULT 0 CHECK (successes >= 0),
  failures         BIGINT NOT NULL DEFAULT 0 CHECK (failures >= 0),
  overlap_skips    BIGINT NOT NULL DEFAULT 0 CHECK (overlap_skips >= 0),
  last_started_at  BIGINT,
  last_duration_ns BIGINT NOT NULL DEFAULT 0 CHECK (last_duration_ns >= 0),
  last_error       TEXT NOT NULL DEFAULT '',
  next_run_at      BIGINT,
  requested_at     BIGINT,                  -- NULL = no run is requested
  run_id           TEXT COLLATE "C" NOT NULL DEFAULT '', -- the run under way, '' = none; without claimed_by its instance died
  claimed_by       TEXT COLLATE "C" REFERENCES instances (id) ON DELETE SET NULL
);

-- Finds what a dead instance had claimed.
CREATE INDEX scheduled_jobs_claimed ON scheduled_jobs (claimed_by) WHERE claimed_by IS NOT NULL;

CREATE TABLE job_runs (
  id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  job_id      TEXT COLLATE "C" NOT NULL REFERENCES scheduled_jobs (id) ON DELETE CASCADE,
  started_at  BIGINT NOT NULL,
  duration_ns BIGINT NOT NULL CHECK (duration_ns >= 0),
  "trigger"   TEXT NOT NULL CHECK ("trigger" IN ('schedule', 'manual')),
  summary     TEXT NOT NULL,
  error       TEXT NOT NULL -- '' = it succeeded
);

CREATE INDEX job_runs_newest ON job_runs (job_id, started_at, id);

-- Which resource a POST with an Idempotency-Key made, for 24 hours. resource_id may be of any system, so it references
-- no table: the key of a deleted resource is forgotten by its age.
CREATE TABLE idempotency_keys (
  scope       TEXT COLLATE "C" NOT NULL, -- the route's noun: target
  key         TEXT COLLATE "C" NOT NULL,
  resource_id TEXT COLLATE "C" NOT NULL,
  created_at  BIGINT NOT NULL,
  PRIMARY KEY (scope, key)
);

CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);

-- What the reaper deleted in all, by kind. Written in the transactions that delete.
CREATE TABLE cleanup_totals (
  kind            TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  cleaned         BIGINT NOT NULL CHECK (cleaned >= 0),
  last_batch_size BIGINT NOT NULL CHECK (last_batch_size >= 0),
  successful_runs BIGINT NOT NULL CHECK (successful_runs >= 0),
  failed_runs     BIGINT NOT NULL CHECK (failed_runs >= 0),
  duration_ns     BIGINT NOT NULL CHECK (duration_ns >= 0), -- of the successful runs together
  last_run_at     BIGINT -- when the last successful run ended
);

-- The last runs of the reaper. kind references no table: a kind that a program no longer has keeps its history.
CREATE TABLE cleanup_runs (
  started_at  BIGINT NOT NULL,
  kind        TEXT COLLATE "C" NOT NULL,
  duration_ns BIGINT NOT NULL CHECK (duration_ns >= 0),
  cleaned     BIGINT NOT NULL CHECK (cleaned >= 0),
  error       TEXT NOT NULL, -- '' = it succeeded
  PRIMARY KEY (started_at, kind)
);
