DROP INDEX frontier_linked;
ALTER TABLE crawled_pages DROP COLUMN canonical;
