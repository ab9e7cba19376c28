-- When a sitemap last had a page again, or modified later. NULL = never.
ALTER TABLE pages ADD COLUMN changed_at BIGINT;

-- Whether all of what content_hash stands for is stored.
ALTER TABLE sitemaps ADD COLUMN complete BOOLEAN NOT NULL DEFAULT false;
UPDATE sitemaps SET complete = (content_hash IS NOT NULL);

-- Why robots.txt could not be read when it was last asked for sitemaps. '' = it could.
ALTER TABLE websites ADD COLUMN robots_error TEXT NOT NULL DEFAULT '';
