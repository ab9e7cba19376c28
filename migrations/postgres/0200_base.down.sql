DROP TABLE events;
DROP TABLE row_counts;
DROP TABLE cleanup_runs;
DROP TABLE cleanup_totals;
DROP TABLE idempotency_keys;
DROP TABLE job_runs;
DROP TABLE scheduled_jobs;
DROP TABLE instances;
