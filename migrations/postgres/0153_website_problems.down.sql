DROP INDEX websites_refused;
CREATE INDEX websites_refused ON websites (created_at, id) WHERE (indexing_error <> '' OR console_error <> '') AND deleted_at IS NULL;
DROP INDEX page_counts_failed;
DROP INDEX websites_created;
CREATE INDEX websites_created ON websites (created_at, id);
