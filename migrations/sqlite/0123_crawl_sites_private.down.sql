-- Of several websites with one site_url the shared one stays, or the oldest.
UPDATE websites SET deleted_at = updated_at WHERE deleted_at IS NULL AND EXISTS (SELECT 1 FROM websites AS o
  WHERE o.site_url = websites.site_url AND o.deleted_at IS NULL AND (o.private_to <> '', o.seq) < (websites.private_to <> '', websites.seq));
DROP INDEX websites_site_url;
CREATE UNIQUE INDEX websites_site_url ON websites (site_url) WHERE deleted_at IS NULL;
ALTER TABLE websites DROP COLUMN private_to;
ALTER TABLE websites DROP COLUMN owner;

ALTER TABLE sources DROP COLUMN private_to;
ALTER TABLE sources DROP COLUMN owner;

CREATE TABLE frontier_old (
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
  UNIQUE (crawl_seq, url_hash)
);
INSERT INTO frontier_old (seq, crawl_seq, source_seq, host_seq, url, url_hash, depth, status, attempts, redirects, last_error, created_at, updated_at, linked_as, broken)
SELECT seq, crawl_seq, source_seq, host_seq, url, url_hash, depth, status, attempts, redirects, last_error, created_at, updated_at, linked_as, broken FROM frontier WHERE scope_seq = 0;
DELETE FROM sqlite_sequence WHERE name = 'frontier_old';
INSERT INTO sqlite_sequence (name, seq) SELECT 'frontier_old', seq FROM sqlite_sequence WHERE name = 'frontier';
DROP TABLE frontier;
ALTER TABLE frontier_old RENAME TO frontier;

CREATE INDEX frontier_open   ON frontier (host_seq, attempts, depth, seq) WHERE status IN ('pending', 'fetching');
CREATE INDEX frontier_failed ON frontier (seq) WHERE status = 'failed';
CREATE INDEX frontier_broken ON frontier (crawl_seq, seq) WHERE broken;
CREATE INDEX frontier_linked ON frontier (crawl_seq, linked_as) WHERE linked_as <> '';
