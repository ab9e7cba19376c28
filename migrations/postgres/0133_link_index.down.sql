DROP TABLE link_postings;
DROP TABLE link_docs;
CREATE TABLE links_search (
  link_seq BIGINT PRIMARY KEY REFERENCES links (seq) ON DELETE CASCADE,
  title    TEXT   COLLATE "C" NOT NULL,
  url      TEXT   COLLATE "C" NOT NULL,
  tags     TEXT   COLLATE "C" NOT NULL,
  marks    TEXT   COLLATE "C" NOT NULL
);
-- Databases that are older than this schema have the extension pg_trgm, and programs of that age search faster with it.
DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN
    CREATE INDEX links_search_title ON links_search USING gin (title gin_trgm_ops);
    CREATE INDEX links_search_url   ON links_search USING gin (url gin_trgm_ops);
    CREATE INDEX links_search_tags  ON links_search USING gin (tags gin_trgm_ops);
    CREATE INDEX links_search_marks ON links_search USING gin (marks gin_trgm_ops);
  END IF;
END $$;
INSERT INTO link_reindex (link_seq) SELECT seq FROM links ON CONFLICT DO NOTHING;
