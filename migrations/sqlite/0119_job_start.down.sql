CREATE TABLE job_runs_old (
  id          TEXT    NOT NULL PRIMARY KEY,
  job_id      TEXT    NOT NULL REFERENCES scheduled_jobs (id) ON DELETE CASCADE,
  started_at  INTEGER NOT NULL,
  duration_ns INTEGER NOT NULL CHECK (duration_ns >= 0),
  "trigger"   TEXT    NOT NULL CHECK ("trigger" IN ('schedule', 'manual')),
  summary     TEXT    NOT NULL,
  error       TEXT    NOT NULL -- '' = it succeeded
) WITHOUT ROWID;
INSERT INTO job_runs_old
  SELECT id, job_id, started_at, duration_ns, CASE "trigger" WHEN 'start' THEN 'manual' ELSE "trigger" END, summary, error FROM job_runs;
DROP TABLE job_runs;
ALTER TABLE job_runs_old RENAME TO job_runs;
CREATE INDEX job_runs_newest ON job_runs (job_id, started_at, id);
ALTER TABLE scheduled_jobs DROP COLUMN requested_by;
