-- The canonical URL that a crawled page names, and entries of the frontier by the URL that redirected to theirs.
ALTER TABLE crawled_pages ADD COLUMN canonical TEXT NOT NULL DEFAULT ''; -- absolute, '' = none

-- What the pages that were stored before name is not known: their next request is not conditional.
UPDATE crawled_pages SET etag = '', last_modified = '';

CREATE INDEX frontier_linked ON frontier (crawl_seq, linked_as) WHERE linked_as <> '';
