-- Websites are counted, and those with failed pages found, without reading other rows.
DROP INDEX websites_created;
CREATE INDEX websites_created   ON websites (created_at, id, private_to, deleted_at) WHERE deleted_at IS NULL;
CREATE INDEX page_counts_failed ON page_counts (website_seq) WHERE status = 'failed';

DROP INDEX websites_refused;
CREATE INDEX websites_refused ON websites (created_at, id, private_to) WHERE (indexing_error <> '' OR console_error <> '') AND deleted_at IS NULL;
