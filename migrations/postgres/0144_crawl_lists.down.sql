DROP INDEX page_versions_change;
DROP INDEX frontier_source;
DROP INDEX frontier_crawl;
DROP INDEX frontier_status;
CREATE INDEX frontier_failed ON frontier (seq) WHERE status = 'failed';
