-- The search index is made of plain tables, the same on both engines. models/links builds it again from link_reindex.
DROP TABLE links_search;

CREATE TABLE link_docs (
  link_seq BIGINT NOT NULL PRIMARY KEY,
  title    TEXT COLLATE "C" NOT NULL, -- as it was indexed: folded
  url      TEXT COLLATE "C" NOT NULL,
  tags     TEXT COLLATE "C" NOT NULL, -- one on each line
  marks    TEXT COLLATE "C" NOT NULL  -- one on each line: tags, health, and whether the link is expired or private
);

CREATE TABLE link_postings (
  bucket BIGINT NOT NULL PRIMARY KEY, -- a block of 4,096 links and some keys: three characters of a field, or a mark
  lists  BYTEA  NOT NULL              -- for each key, the links with it, and its positions: models/links/postings.go
);
ALTER TABLE link_postings ALTER COLUMN lists SET STORAGE EXTERNAL; -- they do not compress

INSERT INTO link_reindex (link_seq) SELECT seq FROM links ON CONFLICT DO NOTHING;
