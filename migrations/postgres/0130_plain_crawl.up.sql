ALTER TABLE jobs RENAME COLUMN held TO source_disabled;
ALTER TABLE crawl_hosts RENAME COLUMN tried_at TO last_attempt_at;
