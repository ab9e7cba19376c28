-- Links and tags. Times (…_at) are microseconds since 1970, NULL = never. Other units are in the column's name.

CREATE TABLE links (
  seq               INTEGER PRIMARY KEY AUTOINCREMENT, -- newest first = greatest first, in lists and in the search index
  id                TEXT    NOT NULL UNIQUE,
  url               TEXT    NOT NULL, -- as it was given
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
  view_count        INTEGER NOT NULL CHECK (view_count >= 0),
  health            TEXT    NOT NULL CHECK (health IN ('unchecked', 'ok', 'moved', 'blocked', 'suspect', 'dead')),
  health_changed_at INTEGER NOT NULL,
  last_checked_at   INTEGER,
  last_status_code  INTEGER NOT NULL CHECK (last_status_code BETWEEN 0 AND 999), -- 0 = no response
  last_error        TEXT    NOT NULL,
  moved_to          TEXT    NOT NULL,
  failures          INTEGER NOT NULL CHECK (failures >= 0), -- in a row
  next_check_at     INTEGER,          -- NULL = not to be checked
  claimed_by        TEXT    REFERENCES instances (id) ON DELETE SET NULL -- the instance that checks it; NULL = free
);

-- Every index ends in seq by itself, so each also gives newest first.
CREATE INDEX links_expired ON links (expired_at);
CREATE INDEX links_popular ON links (expired_at, view_count);
CREATE INDEX links_gone    ON links (seq) WHERE expired_at IS NOT NULL;
CREATE INDEX links_state   ON links (expired_at, health);
CREATE INDEX links_unwell  ON links (health, health_changed_at) WHERE expired_at IS NULL AND health <> 'ok';
-- Claiming removes a link from the first index, so the due ones come first in it.
CREATE INDEX links_due     ON links (next_check_at) WHERE next_check_at IS NOT NULL AND claimed_by IS NULL;
CREATE INDEX links_claimed ON links (claimed_by) WHERE claimed_by IS NOT NULL;

CREATE TABLE tags (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT    NOT NULL UNIQUE,
  name         TEXT    NOT NULL,                             -- the casing first stored
  folded_name  TEXT    NOT NULL UNIQUE,                      -- as names are compared
  link_count   INTEGER NOT NULL CHECK (link_count >= 0),     -- active links with this tag
  created_at   INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL
);

CREATE INDEX tags_popular ON tags (link_count);
CREATE INDEX tags_recent  ON tags (last_used_at);

CREATE TABLE link_tags (
  link_seq INTEGER NOT NULL REFERENCES links (seq) ON DELETE CASCADE,
  tag_seq  INTEGER NOT NULL REFERENCES tags (seq), -- no cascade: only a tag without links may be deleted
  position INTEGER NOT NULL CHECK (position >= 0), -- the order in which a link got its tags
  PRIMARY KEY (link_seq, tag_seq)
) WITHOUT ROWID;

CREATE INDEX link_tags_tag ON link_tags (tag_seq, link_seq);

-- The search index. Each column holds overlapping groups of three characters
-- that models/links cuts, so that any part of a word can be found; the prefix
-- index serves words of one character. marks holds whole words: the link's
-- tags, its health, and whether it is expired. A virtual table has no foreign
-- keys: models/links deletes its rows with their links.
CREATE VIRTUAL TABLE links_search USING fts5 (
  title, url, tags, marks,
  content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '1'
);

-- The words of titles, tags and addresses, for near misses. A word belongs to many links: the reaper deletes unused ones.
CREATE TABLE link_words (
  word   TEXT    NOT NULL PRIMARY KEY,
  length INTEGER NOT NULL CHECK (length > 0) -- in runes
) WITHOUT ROWID;

CREATE INDEX link_words_length ON link_words (length);

-- Links whose entry in the search index is not current: their tag was renamed.
CREATE TABLE link_reindex (
  link_seq INTEGER NOT NULL PRIMARY KEY REFERENCES links (seq) ON DELETE CASCADE
);

-- What bulk actions and deletions did, so that it can be undone for a while.
CREATE TABLE link_changes (
  id         TEXT    NOT NULL PRIMARY KEY,
  action     TEXT    NOT NULL CHECK (action IN ('delete', 'expire', 'revive', 'tag')),
  links      INTEGER NOT NULL CHECK (links >= 0), -- how many
  before     TEXT    NOT NULL, -- JSON: what undoing needs. Deleted links are in it alone, so it references no table
  created_at INTEGER NOT NULL
);

CREATE INDEX link_changes_created ON link_changes (created_at);

-- Batches of links whose metadata is fetched again in the background.
CREATE TABLE link_refreshes (
  id         TEXT    NOT NULL PRIMARY KEY,
  total      INTEGER NOT NULL CHECK (total >= 0),
  failed     INTEGER NOT NULL CHECK (failed BETWEEN 0 AND total),
  created_at INTEGER NOT NULL
);

CREATE INDEX link_refreshes_created ON link_refreshes (created_at);

-- The links of these batches that are still to be fetched.
CREATE TABLE link_refresh_items (
  refresh_id TEXT    NOT NULL REFERENCES link_refreshes (id) ON DELETE CASCADE,
  link_seq   INTEGER NOT NULL REFERENCES links (seq) ON DELETE CASCADE,
  due_at     INTEGER NOT NULL, -- not before: the host may be rate limiting us
  claimed_by TEXT    REFERENCES instances (id) ON DELETE SET NULL, -- the instance that fetches it; NULL = free
  PRIMARY KEY (refresh_id, link_seq)
) WITHOUT ROWID;

CREATE INDEX link_refresh_items_due     ON link_refresh_items (due_at) WHERE claimed_by IS NULL;
CREATE INDEX link_refresh_items_claimed ON link_refresh_items (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX link_refresh_items_link    ON link_refresh_items (link_seq);
