-- When a sitemap last had a page again, or modified later. NULL = never.
ALTER TABLE pages ADD COLUMN changed_at INTEGER;

-- Whether all of what content_hash stands for is stored.
ALTER TABLE sitemaps ADD COLUMN complete INTEGER NOT NULL DEFAULT 0 CHECK (complete IN (0, 1));
UPDATE sitemaps SET complete = (content_hash IS NOT NULL);

-- Why robots.txt could not be read when it was last asked for sitemaps. '' = it could.
ALTER TABLE websites ADD COLUMN robots_error TEXT NOT NULL DEFAULT '';
