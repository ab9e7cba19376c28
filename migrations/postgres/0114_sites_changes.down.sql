ALTER TABLE websites DROP COLUMN robots_error;
ALTER TABLE sitemaps DROP COLUMN complete;
ALTER TABLE pages DROP COLUMN changed_at;
