-- Runs of jobs that were overdue when the program started are told from those that somebody asked for.
ALTER TABLE scheduled_jobs ADD COLUMN requested_by TEXT NOT NULL DEFAULT 'manual' CHECK (requested_by IN ('manual', 'start'));
ALTER TABLE job_runs DROP CONSTRAINT job_runs_trigger_check;
ALTER TABLE job_runs ADD CONSTRAINT job_runs_trigger_check CHECK ("trigger" IN ('schedule', 'manual', 'start'));
