-- The older schema shows everything to all accounts, so private targets and short links are deleted. The reaper deletes
-- them with their history a day later.

UPDATE targets SET deleted_at = CAST(unixepoch() AS INTEGER) * 1000000, due_at = NULL, next_check_at = NULL, claimed_by = NULL
WHERE private_to <> '' AND deleted_at IS NULL;
UPDATE short_link_version SET newest = newest + 1 WHERE EXISTS (SELECT 1 FROM short_links WHERE private_to <> '' AND deleted_at IS NULL);
UPDATE short_links SET deleted_at = CAST(unixepoch() AS INTEGER) * 1000000, version = (SELECT newest FROM short_link_version)
WHERE private_to <> '' AND deleted_at IS NULL;

DROP INDEX targets_canonical_url;
DROP INDEX targets_created;
DROP INDEX targets_host;
DROP INDEX targets_state;
ALTER TABLE targets DROP COLUMN private_to;
ALTER TABLE targets DROP COLUMN owner;
CREATE UNIQUE INDEX targets_canonical_url ON targets (canonical_url) WHERE deleted_at IS NULL;
CREATE INDEX targets_created ON targets (created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX targets_host    ON targets (host, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX targets_state   ON targets (paused, state, created_at, id) WHERE deleted_at IS NULL;

DROP INDEX short_links_created;
DROP INDEX short_links_canonical;
ALTER TABLE short_links DROP COLUMN private_to;
ALTER TABLE short_links DROP COLUMN owner;
CREATE INDEX short_links_created   ON short_links (created_at, short_key) WHERE deleted_at IS NULL;
CREATE INDEX short_links_canonical ON short_links (canonical_url);
