-- When a sitemap last had a page again, or modified later. NULL = never.
ALTER TABLE pages ADD COLUMN changed_at INTEGER;
