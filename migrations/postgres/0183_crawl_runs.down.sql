ALTER TABLE job_executions DROP COLUMN cancelled_by;
DROP INDEX jobs_retry;
ALTER TABLE jobs DROP COLUMN consecutive_failures;
ALTER TABLE jobs DROP COLUMN retry_next_run;
ALTER TABLE jobs DROP COLUMN search_text;
ALTER TABLE jobs DROP COLUMN name;
