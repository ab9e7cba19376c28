-- Whose each target and short link is, and who sees it.

ALTER TABLE targets ADD COLUMN owner TEXT NOT NULL DEFAULT 'system';   -- who added it; it never changes
ALTER TABLE targets ADD COLUMN private_to TEXT NOT NULL DEFAULT '';    -- '' = shared with all accounts, else the owner

-- A URL is unique among the shared targets, and among those of each account.
DROP INDEX targets_canonical_url;
CREATE UNIQUE INDEX targets_canonical_url ON targets (canonical_url, private_to) WHERE deleted_at IS NULL;
-- private_to is at the end of these, so that lists and counts of what an account sees do not read the rows that it does not.
DROP INDEX targets_created;
DROP INDEX targets_host;
DROP INDEX targets_state;
CREATE INDEX targets_created ON targets (created_at, id, private_to) WHERE deleted_at IS NULL;
CREATE INDEX targets_host    ON targets (host, created_at, id, private_to) WHERE deleted_at IS NULL;
CREATE INDEX targets_state   ON targets (paused, state, created_at, id, private_to) WHERE deleted_at IS NULL;

ALTER TABLE short_links ADD COLUMN owner TEXT NOT NULL DEFAULT 'system';
ALTER TABLE short_links ADD COLUMN private_to TEXT NOT NULL DEFAULT ''; -- as in targets

DROP INDEX short_links_created;
DROP INDEX short_links_canonical;
CREATE INDEX short_links_created   ON short_links (created_at, short_key, private_to) WHERE deleted_at IS NULL;
CREATE INDEX short_links_canonical ON short_links (canonical_url, private_to);
