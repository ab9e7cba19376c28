ALTER TABLE crawl_hosts RENAME COLUMN last_attempt_at TO tried_at;
ALTER TABLE jobs RENAME COLUMN source_disabled TO held;
