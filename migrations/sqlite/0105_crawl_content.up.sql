-- What crawled pages say: their texts with history, the search index, broken links.
-- Texts and links are compressed with zstd.

ALTER TABLE crawled_pages ADD COLUMN author        TEXT    NOT NULL DEFAULT '';
ALTER TABLE crawled_pages ADD COLUMN published_at  INTEGER;
ALTER TABLE crawled_pages ADD COLUMN modified_at   INTEGER;
ALTER TABLE crawled_pages ADD COLUMN headings      TEXT    NOT NULL DEFAULT ''; -- a line each
ALTER TABLE crawled_pages ADD COLUMN json_ld       TEXT    NOT NULL DEFAULT ''; -- a JSON array, '' = none
ALTER TABLE crawled_pages ADD COLUMN word_count    INTEGER NOT NULL DEFAULT 0 CHECK (word_count >= 0);
ALTER TABLE crawled_pages ADD COLUMN links         BLOB;                        -- lines of URL, tab, text of the link; NULL = not kept
ALTER TABLE crawled_pages ADD COLUMN versions      INTEGER NOT NULL DEFAULT 0 CHECK (versions >= 0); -- the number of the newest one
ALTER TABLE crawled_pages ADD COLUMN text_version  INTEGER NOT NULL DEFAULT 0 CHECK (text_version >= 0); -- the one that has its text; 0 = it has none
ALTER TABLE crawled_pages ADD COLUMN revision      INTEGER NOT NULL DEFAULT 0 CHECK (revision >= 0); -- of what search shows of it
ALTER TABLE crawled_pages ADD COLUMN gone_at       INTEGER;                     -- NULL = it is there
ALTER TABLE crawled_pages ADD COLUMN unindexed     INTEGER NOT NULL DEFAULT 0 CHECK (unindexed IN (0, 1)); -- the search index is behind
ALTER TABLE crawled_pages ADD COLUMN unsent        INTEGER NOT NULL DEFAULT 0 CHECK (unsent IN (0, 1));    -- the search engine is behind
ALTER TABLE crawled_pages ADD COLUMN deleted_at    INTEGER;                     -- NULL = not deleted
ALTER TABLE crawled_pages DROP COLUMN outlinks;

-- The texts of pages that were stored before are not known: their next request is not conditional.
UPDATE crawled_pages SET etag = '', last_modified = '';

CREATE INDEX crawled_pages_unindexed ON crawled_pages (fetched_at) WHERE unindexed;
CREATE INDEX crawled_pages_unsent    ON crawled_pages (seq) WHERE unsent;
CREATE INDEX crawled_pages_deleted   ON crawled_pages (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX crawled_pages_broken    ON crawled_pages (crawl_seq, seq) WHERE status_code >= 400;

-- What crawls found of a page, each time that its text changed. The newest 20 of a page are kept.
CREATE TABLE page_versions (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  page_seq     INTEGER NOT NULL,
  version      INTEGER NOT NULL CHECK (version >= 1),
  change       TEXT    NOT NULL CHECK (change IN ('new', 'changed', 'gone', 'back')),
  crawl_seq    INTEGER NOT NULL, -- of the crawl that found it; 0 = the URL was added by hand
  status_code  INTEGER NOT NULL CHECK (status_code BETWEEN 0 AND 999), -- 0 = no page linked to it
  title        TEXT    NOT NULL,
  content_hash TEXT    NOT NULL,
  word_count   INTEGER NOT NULL CHECK (word_count >= 0),
  text         BLOB,             -- NULL = it is gone
  created_at   INTEGER NOT NULL,
  UNIQUE (page_seq, version)
);

CREATE INDEX page_versions_crawl ON page_versions (crawl_seq, seq);

-- The search index. Its words are cut, folded and marked by the program.
CREATE VIRTUAL TABLE page_index USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii');

-- What an execution found, and how far its report is.
ALTER TABLE job_executions ADD COLUMN pages_new     INTEGER NOT NULL DEFAULT 0 CHECK (pages_new >= 0);
ALTER TABLE job_executions ADD COLUMN pages_changed INTEGER NOT NULL DEFAULT 0 CHECK (pages_changed >= 0);
ALTER TABLE job_executions ADD COLUMN pages_gone    INTEGER NOT NULL DEFAULT 0 CHECK (pages_gone >= 0);
ALTER TABLE job_executions ADD COLUMN broken_links  INTEGER NOT NULL DEFAULT 0 CHECK (broken_links >= 0);
ALTER TABLE job_executions ADD COLUMN reported_page INTEGER; -- the last page that its report has read; NULL = it is complete, or there is none

CREATE INDEX job_executions_report ON job_executions (seq) WHERE reported_page IS NOT NULL;

ALTER TABLE frontier ADD COLUMN linked_as TEXT NOT NULL DEFAULT ''; -- the URL that pages link to, if that redirected; '' = url
ALTER TABLE frontier ADD COLUMN broken INTEGER NOT NULL DEFAULT 0 CHECK (broken IN (0, 1)); -- there is no page: links to it are reported

CREATE INDEX frontier_broken ON frontier (crawl_seq, seq) WHERE broken;

-- Links of pages to URLs that a crawl could not fetch.
CREATE TABLE broken_links (
  seq           INTEGER PRIMARY KEY AUTOINCREMENT,
  execution_seq INTEGER NOT NULL REFERENCES job_executions (seq) ON DELETE CASCADE,
  page_seq      INTEGER NOT NULL,
  found_on      TEXT    NOT NULL, -- URL of the page
  url           TEXT    NOT NULL,
  text          TEXT    NOT NULL, -- of the link
  error         TEXT    NOT NULL,
  created_at    INTEGER NOT NULL
);

CREATE INDEX broken_links_execution ON broken_links (execution_seq, seq);
