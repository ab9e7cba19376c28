ALTER TABLE crawled_pages DROP COLUMN duplicate;
