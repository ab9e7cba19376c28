DROP TABLE page_index;
CREATE VIRTUAL TABLE page_index USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii');
UPDATE crawled_pages SET unindexed = 1 WHERE text_version > 0;
