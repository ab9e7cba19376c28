DROP TRIGGER sources_delete_jobs;
DROP TRIGGER sources_count_jobs;
DROP TRIGGER jobs_count_update;
DROP TRIGGER jobs_count_delete;
DROP TRIGGER jobs_count_insert;
DELETE FROM row_counts WHERE counted = 'jobs';
