-- Runs of jobs that were overdue when the program started are told from those that somebody asked for.
ALTER TABLE scheduled_jobs ADD COLUMN requested_by TEXT NOT NULL DEFAULT 'manual' CHECK (requested_by IN ('manual', 'start'));

CREATE TABLE job_runs_new (
  id          TEXT    NOT NULL PRIMARY KEY,
  job_id      TEXT    NOT NULL REFERENCES scheduled_jobs (id) ON DELETE CASCADE,
  started_at  INTEGER NOT NULL,
  duration_ns INTEGER NOT NULL CHECK (duration_ns >= 0),
  "trigger"   TEXT    NOT NULL CHECK ("trigger" IN ('schedule', 'manual', 'start')),
  summary     TEXT    NOT NULL,
  error       TEXT    NOT NULL -- '' = it succeeded
) WITHOUT ROWID;
INSERT INTO job_runs_new SELECT id, job_id, started_at, duration_ns, "trigger", summary, error FROM job_runs;
DROP TABLE job_runs;
ALTER TABLE job_runs_new RENAME TO job_runs;
CREATE INDEX job_runs_newest ON job_runs (job_id, started_at, id);
