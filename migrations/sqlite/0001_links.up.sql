-- Links and tags (seed 001). Times are microseconds since 1970, NULL = never.

CREATE TABLE links (
  seq               INTEGER PRIMARY KEY AUTOINCREMENT, -- newest first = greatest first, in lists and in the search index
  id                TEXT    NOT NULL UNIQUE,
  url               TEXT    NOT NULL,
  canonical_url     TEXT    NOT NULL UNIQUE,
  title             TEXT    NOT NULL, -- what is shown: own_title, else fetched_title
  own_title         TEXT    NOT NULL,
  fetched_title     TEXT    NOT NULL,
  og_title          TEXT    NOT NULL,
  og_description    TEXT    NOT NULL,
  og_image          TEXT    NOT NULL,
  og_site_name      TEXT    NOT NULL,
  og_type           TEXT    NOT NULL,
  owner             TEXT    NOT NULL,
  notes             TEXT    NOT NULL,
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL,
  expired_at        INTEGER,          -- NULL = active
  view_count        INTEGER NOT NULL,
  health            TEXT    NOT NULL,
  health_changed_at INTEGER NOT NULL,
  last_checked_at   INTEGER,
  last_status_code  INTEGER NOT NULL, -- 0 = no answer
  last_error        TEXT    NOT NULL,
  moved_to          TEXT    NOT NULL,
  failures          INTEGER NOT NULL,
  next_check_at     INTEGER           -- NULL = not to be checked
);

-- Every index ends in seq by itself, so each also gives newest first.
CREATE INDEX links_expired ON links (expired_at);
CREATE INDEX links_popular ON links (expired_at, view_count);
CREATE INDEX links_gone    ON links (seq) WHERE expired_at IS NOT NULL;
CREATE INDEX links_state   ON links (expired_at, health);
CREATE INDEX links_changed ON links (health, health_changed_at) WHERE health <> 'ok';
CREATE INDEX links_due     ON links (next_check_at) WHERE next_check_at IS NOT NULL;

CREATE TABLE tags (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT    NOT NULL UNIQUE,
  name         TEXT    NOT NULL,        -- the casing first stored
  folded       TEXT    NOT NULL UNIQUE, -- as it is compared
  link_count   INTEGER NOT NULL,        -- active links that carry it
  created_at   INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL
);

CREATE INDEX tags_popular ON tags (link_count);
CREATE INDEX tags_recent  ON tags (last_used_at);

CREATE TABLE link_tags (
  link_seq INTEGER NOT NULL REFERENCES links (seq) ON DELETE CASCADE,
  tag_seq  INTEGER NOT NULL REFERENCES tags (seq),
  position INTEGER NOT NULL, -- the order in which a link got its tags
  PRIMARY KEY (link_seq, tag_seq)
) WITHOUT ROWID;

CREATE INDEX link_tags_tag ON link_tags (tag_seq, link_seq);

-- The search index. Each column holds overlapping groups of three characters
-- that models/links cuts, so that any part of a word can be found; the prefix
-- index serves words of one character. marks holds whole words: the link's
-- tags, its health, and whether it is expired.
CREATE VIRTUAL TABLE links_search USING fts5 (
  title, url, tags, marks,
  content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '1'
);

-- The words of titles, tags and addresses, for near misses.
CREATE TABLE link_words (
  word   TEXT    NOT NULL PRIMARY KEY,
  length INTEGER NOT NULL -- in runes
) WITHOUT ROWID;

CREATE INDEX link_words_length ON link_words (length);

-- Links whose entry in the search index is not current: their tag was renamed.
CREATE TABLE link_reindex (
  link_seq INTEGER NOT NULL PRIMARY KEY REFERENCES links (seq) ON DELETE CASCADE
);

-- What bulk actions and deletions did, so that it can be undone for a while.
CREATE TABLE link_changes (
  id         TEXT    NOT NULL PRIMARY KEY,
  action     TEXT    NOT NULL,
  links      INTEGER NOT NULL,
  before     TEXT    NOT NULL, -- JSON: what undoing needs
  created_at INTEGER NOT NULL
);

CREATE INDEX link_changes_created ON link_changes (created_at);

-- Batches of links whose metadata is fetched anew in the background.
CREATE TABLE link_refreshes (
  id         TEXT    NOT NULL PRIMARY KEY,
  total      INTEGER NOT NULL,
  failed     INTEGER NOT NULL,
  created_at INTEGER NOT NULL
);

CREATE INDEX link_refreshes_created ON link_refreshes (created_at);

CREATE TABLE link_refresh_items (
  refresh_id    TEXT    NOT NULL REFERENCES link_refreshes (id) ON DELETE CASCADE,
  link_seq      INTEGER NOT NULL REFERENCES links (seq) ON DELETE CASCADE,
  claimed_until INTEGER NOT NULL, -- 0 = free
  PRIMARY KEY (refresh_id, link_seq)
) WITHOUT ROWID;

CREATE INDEX link_refresh_items_claim ON link_refresh_items (claimed_until);
CREATE INDEX link_refresh_items_link  ON link_refresh_items (link_seq);
