-- Expired short links are sorted without reading their rows.
DROP INDEX short_links_expires;
DROP INDEX short_links_exhausted;
CREATE INDEX short_links_expires   ON short_links (expires_at, created_at, short_key, private_to, disabled, deleted_at) WHERE expires_at IS NOT NULL;
CREATE INDEX short_links_exhausted ON short_links (exhausted_at, created_at, short_key, private_to, disabled, deleted_at) WHERE exhausted_at IS NOT NULL;
