DROP TABLE job_runs;
DROP TABLE scheduled_jobs;
