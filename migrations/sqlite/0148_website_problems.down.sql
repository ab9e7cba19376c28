DROP INDEX page_counts_failed;
DROP INDEX websites_created;
CREATE INDEX websites_created ON websites (created_at, id);
