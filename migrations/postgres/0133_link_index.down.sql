DROP TABLE link_postings;
DROP TABLE link_docs;
CREATE TABLE links_search (
  link_seq BIGINT PRIMARY KEY REFERENCES links (seq) ON DELETE CASCADE,
  title    TEXT   COLLATE "C" NOT NULL,
  url      TEXT   COLLATE "C" NOT NULL,
  tags     TEXT   COLLATE "C" NOT NULL,
  marks    TEXT   COLLATE "C" NOT NULL
);
CREATE INDEX links_search_title ON links_search USING gin (title gin_trgm_ops);
CREATE INDEX links_search_url   ON links_search USING gin (url gin_trgm_ops);
CREATE INDEX links_search_tags  ON links_search USING gin (tags gin_trgm_ops);
CREATE INDEX links_search_marks ON links_search USING gin (marks gin_trgm_ops);
INSERT INTO link_reindex (link_seq) SELECT seq FROM links ON CONFLICT DO NOTHING;
