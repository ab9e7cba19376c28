-- Of several websites with one site_url the shared one stays, or the oldest.
UPDATE websites SET deleted_at = updated_at WHERE deleted_at IS NULL AND EXISTS (SELECT 1 FROM websites AS o
  WHERE o.site_url = websites.site_url AND o.deleted_at IS NULL AND (o.private_to <> '', o.seq) < (websites.private_to <> '', websites.seq));
DROP INDEX websites_site_url;
CREATE UNIQUE INDEX websites_site_url ON websites (site_url) WHERE deleted_at IS NULL;
ALTER TABLE websites DROP COLUMN private_to;
ALTER TABLE websites DROP COLUMN owner;

ALTER TABLE sources DROP COLUMN private_to;
ALTER TABLE sources DROP COLUMN owner;

DELETE FROM frontier WHERE scope_seq <> 0;
ALTER TABLE frontier DROP CONSTRAINT frontier_crawl_seq_url_hash_key;
ALTER TABLE frontier DROP COLUMN scope_seq;
ALTER TABLE frontier ADD CONSTRAINT frontier_crawl_seq_url_hash_key UNIQUE (crawl_seq, url_hash);
