-- foreign_keys: off
-- Private links become visible to all. Of those with one URL, the shared one stays, else the oldest.
CREATE TEMP TABLE doubles AS SELECT seq FROM links WHERE private_to <> '' AND EXISTS (
  SELECT 1 FROM links AS other WHERE other.canonical_url = links.canonical_url AND (other.private_to = '' OR other.seq < links.seq));
DELETE FROM links_search WHERE rowid IN (SELECT seq FROM doubles);
DELETE FROM link_tags WHERE link_seq IN (SELECT seq FROM doubles);
DELETE FROM link_reindex WHERE link_seq IN (SELECT seq FROM doubles);
DELETE FROM link_refresh_items WHERE link_seq IN (SELECT seq FROM doubles);
DELETE FROM links WHERE seq IN (SELECT seq FROM doubles);
UPDATE tags SET link_count = (SELECT count(*) FROM link_tags JOIN links ON links.seq = link_seq WHERE tag_seq = tags.seq AND expired_at IS NULL)
WHERE EXISTS (SELECT 1 FROM doubles);
DELETE FROM tags WHERE EXISTS (SELECT 1 FROM doubles) AND NOT EXISTS (SELECT 1 FROM link_tags WHERE tag_seq = tags.seq);
DROP TABLE doubles;
-- The entries of private links in the search index say so.
INSERT INTO link_reindex (link_seq) SELECT seq FROM links WHERE private_to <> '' ON CONFLICT DO NOTHING;

ALTER TABLE link_refreshes DROP COLUMN made_by;
ALTER TABLE link_changes DROP COLUMN made_by;
DROP TABLE tag_scopes;

CREATE TABLE links_new (
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

-- Every index ends in seq by itself, so each also gives newest first.
CREATE INDEX links_expired ON links (expired_at);
CREATE INDEX links_popular ON links (expired_at, view_count);
CREATE INDEX links_gone    ON links (seq) WHERE expired_at IS NOT NULL;
CREATE INDEX links_state   ON links (expired_at, health);
CREATE INDEX links_unwell  ON links (health, health_changed_at) WHERE expired_at IS NULL AND health <> 'ok';
-- Claiming removes a link from the first index, so the due ones come first in it.
CREATE INDEX links_due     ON links (next_check_at) WHERE next_check_at IS NOT NULL AND claimed_by IS NULL;
CREATE INDEX links_claimed ON links (claimed_by) WHERE claimed_by IS NOT NULL;
