-- Pages that lists and searches leave out, because their canonical URL is a good page of its own.
ALTER TABLE crawled_pages ADD COLUMN duplicate BOOLEAN NOT NULL DEFAULT false;
