UPDATE job_runs SET "trigger" = 'manual' WHERE "trigger" = 'start';
ALTER TABLE job_runs DROP CONSTRAINT job_runs_trigger_check;
ALTER TABLE job_runs ADD CONSTRAINT job_runs_trigger_check CHECK ("trigger" IN ('schedule', 'manual'));
ALTER TABLE scheduled_jobs DROP COLUMN requested_by;
