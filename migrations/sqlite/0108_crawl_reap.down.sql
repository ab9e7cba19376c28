DROP INDEX jobs_many;
