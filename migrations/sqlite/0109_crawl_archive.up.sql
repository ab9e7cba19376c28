-- Copies of crawled pages in the archive: what each body is called there, and which page had which one.
-- Times (…_at) are microseconds since 1970, NULL = never. Other units are in the column's name.

-- Bodies, which the archive stores once each. A row is written before its body is stored, and deleted after its body is.
CREATE TABLE archived_blobs (
  hash     BLOB NOT NULL PRIMARY KEY, -- SHA-256 of the body
  present  INTEGER NOT NULL CHECK (present IN (0, 1)), -- the archive has stored it
  deleting INTEGER NOT NULL CHECK (deleting IN (0, 1)), -- it may be deleted any moment: no page may name it
  due_at   INTEGER -- when it may be deleted; NULL = a page names it
);

CREATE INDEX archived_blobs_due ON archived_blobs (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE archived_pages (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  source_seq INTEGER NOT NULL,
  url_hash   BLOB   NOT NULL, -- as in crawled_pages
  hash       BLOB   NOT NULL REFERENCES archived_blobs (hash),
  size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0), -- of the body, uncompressed
  created_at INTEGER NOT NULL, -- when the page was first fetched so
  fetched_at INTEGER NOT NULL, -- when it was last fetched so
  UNIQUE (hash, source_seq, url_hash)
);

CREATE INDEX archived_pages_newest ON archived_pages (source_seq, url_hash, fetched_at);
CREATE INDEX archived_pages_old    ON archived_pages (fetched_at);
