-- The search index is read from its beginning at three times the speed, so a row's number is now a large one less the
-- page's: the newest pages come first. All pages are indexed again.
DROP TABLE page_index;
CREATE VIRTUAL TABLE page_index USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii');
UPDATE crawled_pages SET unindexed = 1 WHERE text_version > 0;
