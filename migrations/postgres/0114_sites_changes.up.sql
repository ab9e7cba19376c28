-- When a sitemap last had a page again, or modified later. NULL = never.
ALTER TABLE pages ADD COLUMN changed_at BIGINT;

-- Whether all of what content_hash stands for is stored.
ALTER TABLE sitemaps ADD COLUMN complete BOOLEAN NOT NULL DEFAULT false;
UPDATE sitemaps SET complete = (content_hash IS NOT NULL);
