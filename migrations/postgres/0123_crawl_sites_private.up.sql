-- Whose sources and websites are, and who sees them. What belongs to one follows it.

ALTER TABLE sources ADD COLUMN owner      TEXT COLLATE "C" NOT NULL DEFAULT 'system'; -- who added it
ALTER TABLE sources ADD COLUMN private_to TEXT COLLATE "C" NOT NULL DEFAULT '';       -- its owner; '' = shared with all accounts

ALTER TABLE websites ADD COLUMN owner      TEXT COLLATE "C" NOT NULL DEFAULT 'system';
ALTER TABLE websites ADD COLUMN private_to TEXT COLLATE "C" NOT NULL DEFAULT '';

DROP INDEX websites_site_url;
CREATE UNIQUE INDEX websites_site_url ON websites (site_url, private_to) WHERE deleted_at IS NULL;

-- A URL waits once for all shared sources, if it was added by hand or is of a feed, and once for each private one.
ALTER TABLE frontier ADD COLUMN scope_seq BIGINT NOT NULL DEFAULT 0; -- the source, if it was added by hand and that is private; else 0
ALTER TABLE frontier DROP CONSTRAINT frontier_crawl_seq_url_hash_key;
ALTER TABLE frontier ADD CONSTRAINT frontier_crawl_seq_url_hash_key UNIQUE (crawl_seq, url_hash, scope_seq);
