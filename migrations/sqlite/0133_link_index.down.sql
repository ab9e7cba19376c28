DROP TABLE link_postings;
DROP TABLE link_docs;
CREATE VIRTUAL TABLE links_search USING fts5 (
  title, url, tags, marks,
  content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '1'
);
INSERT INTO link_reindex (link_seq) SELECT seq FROM links WHERE true ON CONFLICT DO NOTHING;
