-- Pages that lists and searches leave out, because their canonical URL is a good page of its own.
ALTER TABLE crawled_pages ADD COLUMN duplicate INTEGER NOT NULL DEFAULT 0 CHECK (duplicate IN (0, 1));
