-- Whose sources and websites are, and who sees them. What belongs to one follows it.

ALTER TABLE sources ADD COLUMN owner      TEXT NOT NULL DEFAULT 'system'; -- who added it
ALTER TABLE sources ADD COLUMN private_to TEXT NOT NULL DEFAULT '';       -- its owner; '' = shared with all accounts

ALTER TABLE websites ADD COLUMN owner      TEXT NOT NULL DEFAULT 'system';
ALTER TABLE websites ADD COLUMN private_to TEXT NOT NULL DEFAULT '';

DROP INDEX websites_site_url;
CREATE UNIQUE INDEX websites_site_url ON websites (site_url, private_to) WHERE deleted_at IS NULL;

-- A URL waits once for all shared sources, if it was added by hand or is of a feed, and once for each private one.
CREATE TABLE frontier_new (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  crawl_seq  INTEGER NOT NULL, -- the execution that began the crawl; 0 = added by hand
  source_seq INTEGER NOT NULL,
  host_seq   INTEGER NOT NULL,
  url        TEXT    NOT NULL,
  url_hash   BLOB    NOT NULL, -- the first 16 bytes of SHA-256
  depth      INTEGER NOT NULL CHECK (depth >= 0), -- 0 = the start page
  status     TEXT    NOT NULL CHECK (status IN ('pending', 'fetching', 'done', 'failed')),
  attempts   INTEGER NOT NULL CHECK (attempts >= 0),
  redirects  INTEGER NOT NULL CHECK (redirects >= 0), -- that were followed on the way to this URL
  last_error TEXT    NOT NULL, -- '' = none
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  linked_as  TEXT    NOT NULL DEFAULT '', -- the URL that pages link to, if that redirected; '' = url
  broken     INTEGER NOT NULL DEFAULT 0 CHECK (broken IN (0, 1)), -- there is no page: links to it are reported
  scope_seq  INTEGER NOT NULL DEFAULT 0, -- the source, if it was added by hand and that is private; else 0
  UNIQUE (crawl_seq, url_hash, scope_seq)
);
INSERT INTO frontier_new (seq, crawl_seq, source_seq, host_seq, url, url_hash, depth, status, attempts, redirects, last_error, created_at, updated_at, linked_as, broken)
SELECT seq, crawl_seq, source_seq, host_seq, url, url_hash, depth, status, attempts, redirects, last_error, created_at, updated_at, linked_as, broken FROM frontier;
DELETE FROM sqlite_sequence WHERE name = 'frontier_new';
INSERT INTO sqlite_sequence (name, seq) SELECT 'frontier_new', seq FROM sqlite_sequence WHERE name = 'frontier'; -- no number is used twice
DROP TABLE frontier;
ALTER TABLE frontier_new RENAME TO frontier;

CREATE INDEX frontier_open   ON frontier (host_seq, attempts, depth, seq) WHERE status IN ('pending', 'fetching');
CREATE INDEX frontier_failed ON frontier (seq) WHERE status = 'failed';
CREATE INDEX frontier_broken ON frontier (crawl_seq, seq) WHERE broken;
CREATE INDEX frontier_linked ON frontier (crawl_seq, linked_as) WHERE linked_as <> '';
