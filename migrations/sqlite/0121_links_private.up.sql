-- foreign_keys: off
-- Links that only their owner and admins see: a URL is unique in each scope. Tags count the links of each scope.

CREATE TABLE links_new (
  seq               INTEGER PRIMARY KEY AUTOINCREMENT, -- newest first = greatest first, in lists and in the search index
  id                TEXT    NOT NULL UNIQUE,
  url               TEXT    NOT NULL, -- as it was given
  canonical_url     TEXT    NOT NULL,
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
  claimed_by        TEXT    REFERENCES instances (id) ON DELETE SET NULL, -- the instance that checks it; NULL = free
  private_to        TEXT    NOT NULL DEFAULT '', -- '' = all accounts see it, else only its owner, which this is
  UNIQUE (canonical_url, private_to)
);
INSERT INTO links_new (seq, id, url, canonical_url, title, own_title, fetched_title, og_title, og_description, og_image, og_site_name, og_type,
  owner, notes, created_at, updated_at, expired_at, view_count, health, health_changed_at, last_checked_at, last_status_code,
  last_error, moved_to, failures, next_check_at, claimed_by)
SELECT seq, id, url, canonical_url, title, own_title, fetched_title, og_title, og_description, og_image, og_site_name, og_type,
  owner, notes, created_at, updated_at, expired_at, view_count, health, health_changed_at, last_checked_at, last_status_code,
  last_error, moved_to, failures, next_check_at, claimed_by
FROM links ORDER BY seq;
DELETE FROM sqlite_sequence WHERE name = 'links_new'; -- keys are never used again, those of deleted links neither
INSERT INTO sqlite_sequence (name, seq) SELECT 'links_new', seq FROM sqlite_sequence WHERE name = 'links';
DROP TABLE links;
ALTER TABLE links_new RENAME TO links;

-- Every index ends in seq by itself, so each also gives newest first. Where a list is read far down, private_to is in the
-- index, so that the rows that are passed over are not read.
CREATE INDEX links_expired ON links (expired_at, seq, private_to);
CREATE INDEX links_popular ON links (expired_at, view_count);
CREATE INDEX links_gone    ON links (seq, private_to, expired_at) WHERE expired_at IS NOT NULL;
CREATE INDEX links_state   ON links (expired_at, health);
CREATE INDEX links_unwell  ON links (health, health_changed_at) WHERE expired_at IS NULL AND health <> 'ok';
-- Claiming removes a link from the first index, so the due ones come first in it.
CREATE INDEX links_due     ON links (next_check_at) WHERE next_check_at IS NOT NULL AND claimed_by IS NULL;
CREATE INDEX links_claimed ON links (claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX links_private ON links (private_to, expired_at, health) WHERE private_to <> ''; -- totals are of all links, less those

-- What a tag is in each scope: a tag exists for an account if links that it sees have it.
CREATE TABLE tag_scopes (
  tag_seq      INTEGER NOT NULL REFERENCES tags (seq) ON DELETE CASCADE,
  private_to   TEXT    NOT NULL, -- of the links
  links        INTEGER NOT NULL CHECK (links >= 0),                -- with this tag, expired ones too
  link_count   INTEGER NOT NULL CHECK (link_count BETWEEN 0 AND links), -- those that are active
  created_at   INTEGER NOT NULL, -- when the first of them got the tag
  last_used_at INTEGER NOT NULL,
  PRIMARY KEY (tag_seq, private_to)
) WITHOUT ROWID;
INSERT INTO tag_scopes (tag_seq, private_to, links, link_count, created_at, last_used_at)
SELECT tags.seq, '', count(*), min(link_count, count(*)), created_at, last_used_at FROM tags JOIN link_tags ON tag_seq = tags.seq GROUP BY tags.seq;

-- Only the user who made a change can undo it. Only the user who started a refresh can see its progress. Admins can do both.
ALTER TABLE link_changes ADD COLUMN made_by TEXT NOT NULL DEFAULT 'system';
ALTER TABLE link_refreshes ADD COLUMN made_by TEXT NOT NULL DEFAULT 'system';
