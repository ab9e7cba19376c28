-- Feeds of crawled sources. An id in the API is made from created_at and seq.
-- Times (…_at) are microseconds since 1970, NULL = never. Other units are in the column's name.

CREATE TABLE feeds (
  seq            INTEGER PRIMARY KEY AUTOINCREMENT,
  source_seq     INTEGER NOT NULL REFERENCES sources (seq) ON DELETE CASCADE,
  url            TEXT    NOT NULL, -- as it is requested
  url_hash       BLOB    NOT NULL, -- the first 16 bytes of SHA-256
  title          TEXT    NOT NULL, -- '' = unknown
  etag           TEXT    NOT NULL, -- of the feed as it was read last, '' = none
  last_modified  TEXT    NOT NULL,
  created_at     INTEGER NOT NULL,
  last_polled_at INTEGER,
  read_at        INTEGER,          -- when it was last read in full
  next_poll_at   INTEGER,          -- NULL = it is not polled any more
  failures       INTEGER NOT NULL CHECK (failures >= 0), -- polls that failed in a row
  last_error     TEXT    NOT NULL, -- of the last poll, '' = none
  entries_found  INTEGER NOT NULL CHECK (entries_found >= 0), -- entries that were new
  claimed_by     TEXT    REFERENCES instances (id) ON DELETE SET NULL, -- NULL = free
  UNIQUE (source_seq, url_hash)
);

CREATE INDEX feeds_due     ON feeds (next_poll_at) WHERE next_poll_at IS NOT NULL AND claimed_by IS NULL;
CREATE INDEX feeds_claimed ON feeds (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX feeds_source  ON feeds (source_seq, seq);

-- Entries of feeds that were seen, so that each is fetched once.
CREATE TABLE feed_entries (
  feed_seq INTEGER NOT NULL REFERENCES feeds (seq) ON DELETE CASCADE,
  url_hash BLOB    NOT NULL, -- as in feeds
  seen_at  INTEGER NOT NULL, -- when the feed last had it
  PRIMARY KEY (feed_seq, url_hash)
) WITHOUT ROWID;

CREATE INDEX feed_entries_seen ON feed_entries (seen_at);
CREATE INDEX feed_entries_feed ON feed_entries (feed_seq, seen_at);
