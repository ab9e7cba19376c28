ALTER TABLE jobs ADD COLUMN name TEXT NOT NULL DEFAULT ''; -- '' = that of its source
ALTER TABLE jobs ADD COLUMN search_text TEXT NOT NULL DEFAULT ''; -- name as it is searched
-- A recurring job that failed with all its retries runs again at its next planned time.
ALTER TABLE jobs ADD COLUMN retry_next_run BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE jobs ADD COLUMN consecutive_failures BIGINT NOT NULL DEFAULT 0 CHECK (consecutive_failures >= 0);
-- Failed jobs that the scheduler retries.
CREATE INDEX jobs_retry ON jobs (planned_at) WHERE status = 'failed' AND retry_next_run AND deleted_at IS NULL;
ALTER TABLE job_executions ADD COLUMN cancelled_by TEXT NOT NULL DEFAULT ''; -- name of the actor, '' = not cancelled
