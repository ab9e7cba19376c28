DROP INDEX short_links_exhausted;
DROP INDEX short_links_expires;
CREATE INDEX short_links_expires   ON short_links (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX short_links_exhausted ON short_links (exhausted_at) WHERE exhausted_at IS NOT NULL;
