ALTER TABLE crawl_hosts DROP COLUMN silent_since;
ALTER TABLE jobs DROP COLUMN forced;
