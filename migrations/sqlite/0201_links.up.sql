-- Links, tags, the search index of links, and what happens to many links at once.
-- Times (…_at) are microseconds since 1970, NULL = never. Other units are in the column's name.

-- A URL is unique among shared links, and among the private links of each owner.
CREATE TABLE links (
  seq                 INTEGER PRIMARY KEY AUTOINCREMENT, -- the newest is the greatest, in lists and in the search index
  id                  TEXT    NOT NULL UNIQUE,
  url                 TEXT    NOT NULL, -- as it was given
  canonical_url       TEXT    NOT NULL,
  title               TEXT    NOT NULL, -- own_title, else fetched_title
  own_title           TEXT    NOT NULL,
  fetched_title       TEXT    NOT NULL,
  og_title            TEXT    NOT NULL,
  og_description      TEXT    NOT NULL,
  og_image            TEXT    NOT NULL,
  og_site_name        TEXT    NOT NULL,
  og_type             TEXT    NOT NULL,
  owner               TEXT    NOT NULL,
  notes               TEXT    NOT NULL,
  created_at          INTEGER NOT NULL,
  updated_at          INTEGER NOT NULL,
  expired_at          INTEGER, -- NULL = active
  view_count          INTEGER NOT NULL CHECK (view_count >= 0),
  health              TEXT    NOT NULL CHECK (health IN ('unchecked', 'ok', 'moved', 'blocked', 'suspect', 'dead')),
  health_changed_at   INTEGER NOT NULL,
  last_checked_at     INTEGER,
  last_status_code    INTEGER NOT NULL CHECK (last_status_code BETWEEN 0 AND 999), -- 0 = no response
  last_error          TEXT    NOT NULL,
  moved_to            TEXT    NOT NULL,
  failures            INTEGER NOT NULL CHECK (failures >= 0), -- in a row
  next_check_at       INTEGER, -- NULL = not to be checked
  claimed_by          TEXT    REFERENCES instances (id) ON DELETE SET NULL, -- the instance that checks it; NULL = free
  private_to          TEXT    NOT NULL DEFAULT '', -- the owner, if only the owner and admins see it; '' = shared
  fetched_description TEXT    NOT NULL DEFAULT '', -- <meta name=description>, else og:description
  UNIQUE (canonical_url, private_to)
);

-- Every index ends in seq by itself, so each also gives newest first. Where a list is read far down, private_to is in
-- the index, so that rows of other owners are skipped without reading them.
CREATE INDEX links_expired ON links (expired_at, seq, private_to);
CREATE INDEX links_popular ON links (expired_at, view_count);
CREATE INDEX links_unwell ON links (health, health_changed_at) WHERE expired_at IS NULL AND health <> 'ok';
-- Claiming removes a link from the first index, so that those that are due come first in it.
CREATE INDEX links_due ON links (next_check_at) WHERE next_check_at IS NOT NULL AND claimed_by IS NULL;
CREATE INDEX links_claimed ON links (claimed_by) WHERE claimed_by IS NOT NULL;
-- For totals: a user sees all links but these.
CREATE INDEX links_private ON links (private_to, expired_at, health) WHERE private_to <> '';
CREATE INDEX links_state ON links (expired_at, health, seq, private_to);
CREATE INDEX links_gone ON links (seq, private_to, health, expired_at) WHERE expired_at IS NOT NULL;

-- A tag of all scopes together.
CREATE TABLE tags (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT    NOT NULL UNIQUE,
  name         TEXT    NOT NULL, -- with the case of its first use
  folded_name  TEXT    NOT NULL UNIQUE, -- by which names are compared
  link_count   INTEGER NOT NULL CHECK (link_count >= 0), -- active links with this tag
  created_at   INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL
);

CREATE INDEX tags_popular ON tags (link_count);
CREATE INDEX tags_recent ON tags (last_used_at);

-- The tags of links.
CREATE TABLE link_tags (
  link_seq INTEGER NOT NULL REFERENCES links (seq) ON DELETE CASCADE,
  tag_seq  INTEGER NOT NULL REFERENCES tags (seq), -- no cascade: only a tag without links may be deleted
  position INTEGER NOT NULL CHECK (position >= 0), -- the order in which a link got its tags
  PRIMARY KEY (link_seq, tag_seq)
) WITHOUT ROWID;

CREATE INDEX link_tags_tag ON link_tags (tag_seq, link_seq);

-- A tag among shared links (private_to = ''), and among the private links of each owner. A tag exists for a user if
-- links that the user sees have it.
CREATE TABLE tag_scopes (
  tag_seq      INTEGER NOT NULL REFERENCES tags (seq) ON DELETE CASCADE,
  private_to   TEXT    NOT NULL, -- of the links
  links        INTEGER NOT NULL CHECK (links >= 0), -- with this tag, including expired ones
  link_count   INTEGER NOT NULL CHECK (link_count BETWEEN 0 AND links), -- active links with this tag
  created_at   INTEGER NOT NULL, -- when the first link got the tag
  last_used_at INTEGER NOT NULL,
  PRIMARY KEY (tag_seq, private_to)
) WITHOUT ROWID;

-- The texts of links in the search index (ADR 30).
CREATE TABLE link_docs (
  link_seq INTEGER NOT NULL PRIMARY KEY,
  title    TEXT    NOT NULL, -- as it was indexed: folded
  url      TEXT    NOT NULL,
  tags     TEXT    NOT NULL, -- one on each line
  marks    TEXT    NOT NULL -- one on each line: tags, health, and whether the link is expired or private
);

-- The posting lists of the search index.
CREATE TABLE link_postings (
  bucket INTEGER NOT NULL PRIMARY KEY, -- a block of 4,096 links and some keys: trigrams of a field, and marks
  lists  BLOB    NOT NULL -- for each key, its links and positions: models/links/postings.go
);

-- The words of titles, tags and URLs, for near misses. The reaper deletes unused words.
CREATE TABLE link_words (
  word   TEXT    NOT NULL PRIMARY KEY,
  length INTEGER NOT NULL CHECK (length > 0) -- in runes
) WITHOUT ROWID;

CREATE INDEX link_words_length ON link_words (length);

-- Links whose entry in the search index is not current, because a tag was renamed.
CREATE TABLE link_reindex (
  link_seq INTEGER NOT NULL PRIMARY KEY REFERENCES links (seq) ON DELETE CASCADE
);

-- Bulk actions and deletions, to undo them for a while.
CREATE TABLE link_changes (
  id         TEXT    NOT NULL PRIMARY KEY,
  action     TEXT    NOT NULL CHECK (action IN ('delete', 'expire', 'revive', 'tag')),
  links      INTEGER NOT NULL CHECK (links >= 0), -- number of links
  before     TEXT    NOT NULL, -- JSON with what undoing needs, such as deleted links
  created_at INTEGER NOT NULL,
  created_by TEXT    NOT NULL DEFAULT 'system' -- the user, besides admins, who can undo it
);

CREATE INDEX link_changes_created ON link_changes (created_at);

-- Batches of links whose metadata is refetched in the background.
CREATE TABLE link_refreshes (
  id         TEXT    NOT NULL PRIMARY KEY,
  total      INTEGER NOT NULL CHECK (total >= 0),
  failed     INTEGER NOT NULL CHECK (failed BETWEEN 0 AND total),
  created_at INTEGER NOT NULL,
  created_by TEXT    NOT NULL DEFAULT 'system' -- the user, besides admins, who sees its progress
);

CREATE INDEX link_refreshes_created ON link_refreshes (created_at);

-- The queue of links to refetch.
CREATE TABLE link_refresh_items (
  refresh_id TEXT    NOT NULL REFERENCES link_refreshes (id) ON DELETE CASCADE,
  link_seq   INTEGER NOT NULL REFERENCES links (seq) ON DELETE CASCADE,
  due_at     INTEGER NOT NULL, -- later than now if the host limits the rate
  claimed_by TEXT    REFERENCES instances (id) ON DELETE SET NULL, -- the instance that fetches it; NULL = free
  PRIMARY KEY (refresh_id, link_seq)
) WITHOUT ROWID;

CREATE INDEX link_refresh_items_due ON link_refresh_items (due_at) WHERE claimed_by IS NULL;
CREATE INDEX link_refresh_items_claimed ON link_refresh_items (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX link_refresh_items_link ON link_refresh_items (link_seq);

-- Numbers of links in row_counts, by block, owner and health. The state of an expired link begins with "expired".
CREATE TRIGGER links_count_insert AFTER INSERT ON links BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  VALUES ('links', NEW.seq >> 12, NEW.private_to,
    CASE WHEN NEW.expired_at IS NULL THEN NEW.health ELSE 'expired ' || NEW.health END, 0, 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER links_count_delete AFTER DELETE ON links BEGIN
  UPDATE row_counts SET n = n - 1 WHERE counted = 'links' AND block = OLD.seq >> 12 AND private_to = OLD.private_to
    AND state = CASE WHEN OLD.expired_at IS NULL THEN OLD.health ELSE 'expired ' || OLD.health END AND slot = 0;
END;

CREATE TRIGGER links_count_update AFTER UPDATE OF private_to, health, expired_at ON links
WHEN OLD.private_to <> NEW.private_to OR
  CASE WHEN OLD.expired_at IS NULL THEN OLD.health ELSE 'expired ' || OLD.health END <>
  CASE WHEN NEW.expired_at IS NULL THEN NEW.health ELSE 'expired ' || NEW.health END BEGIN
  UPDATE row_counts SET n = n - 1 WHERE counted = 'links' AND block = OLD.seq >> 12 AND private_to = OLD.private_to
    AND state = CASE WHEN OLD.expired_at IS NULL THEN OLD.health ELSE 'expired ' || OLD.health END AND slot = 0;
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  VALUES ('links', NEW.seq >> 12, NEW.private_to,
    CASE WHEN NEW.expired_at IS NULL THEN NEW.health ELSE 'expired ' || NEW.health END, 0, 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;

-- The number of tags in row_counts, in one row.
INSERT INTO row_counts (counted, block, private_to, state, slot, n) VALUES ('tags', 0, '', '', 0, 0);

CREATE TRIGGER tags_count_insert AFTER INSERT ON tags BEGIN
  UPDATE row_counts SET n = n + 1 WHERE counted = 'tags' AND block = 0 AND private_to = '' AND state = '' AND slot = 0;
END;

CREATE TRIGGER tags_count_delete AFTER DELETE ON tags BEGIN
  UPDATE row_counts SET n = n - 1 WHERE counted = 'tags' AND block = 0 AND private_to = '' AND state = '' AND slot = 0;
END;
