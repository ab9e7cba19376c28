-- Short links and their visits, and the archive of those that have expired.
-- Times (…_at) are microseconds since 1970, NULL = never. Other units are in the column's name.

-- Short links that redirect, have expired recently, or are deleted and can be restored.
CREATE TABLE short_links (
  -- Never reused, so that a visit that is counted late belongs to no other short link.
  seq             INTEGER PRIMARY KEY AUTOINCREMENT,
  short_key       TEXT    NOT NULL UNIQUE,
  long_url        TEXT    NOT NULL, -- as it was given
  canonical_url   TEXT    NOT NULL,
  title           TEXT    NOT NULL,
  search_text     TEXT    NOT NULL, -- key, title and URL as they are searched
  max_visits      INTEGER NOT NULL CHECK (max_visits >= 0), -- 0 = any number
  disabled        INTEGER NOT NULL CHECK (disabled IN (0, 1)),
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL, -- by a user
  version         INTEGER NOT NULL DEFAULT 0, -- of the newest change by a user; see short_link_version
  expires_at      INTEGER,
  exhausted_at    INTEGER, -- when max_visits was reached
  deleted_at      INTEGER, -- NULL = not deleted; the reaper deletes it later
  visits          INTEGER NOT NULL CHECK (visits >= 0), -- by people
  bots            INTEGER NOT NULL CHECK (bots >= 0), -- requests by bots, which are no visits
  last_visited_at INTEGER,
  owner           TEXT    NOT NULL DEFAULT 'system', -- who added it
  private_to      TEXT    NOT NULL DEFAULT '', -- the owner, if only the owner and admins see it; '' = shared
  direct          INTEGER NOT NULL DEFAULT 0 CHECK (direct >= 0), -- visits without a referrer
  previews        INTEGER NOT NULL DEFAULT 0 CHECK (previews >= 0) -- HEAD requests, prefetches and link previews
);

CREATE INDEX short_links_disabled ON short_links (created_at, short_key) WHERE disabled AND deleted_at IS NULL;
CREATE INDEX short_links_version ON short_links (version);
CREATE INDEX short_links_deleted ON short_links (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX short_links_created ON short_links (created_at, short_key, private_to) WHERE deleted_at IS NULL;
CREATE INDEX short_links_canonical ON short_links (canonical_url, private_to);
-- Expired short links are sorted without reading their rows.
CREATE INDEX short_links_expires ON short_links (expires_at, created_at, short_key, private_to, disabled, deleted_at)
  WHERE expires_at IS NOT NULL;
CREATE INDEX short_links_exhausted
  ON short_links (exhausted_at, created_at, short_key, private_to, disabled, deleted_at)
  WHERE exhausted_at IS NOT NULL;

-- The version of the newest change of any short link, in one row. Changes are committed in the order of their versions,
-- so an instance that has seen a version has seen all changes before it (ADR 14).
CREATE TABLE short_link_version (
  id     INTEGER PRIMARY KEY CHECK (id = 1),
  newest INTEGER NOT NULL
);
INSERT INTO short_link_version (id, newest) VALUES (1, 0);

-- Requests by day (UTC): of bots, previews, and visits by device. No row identifies a visitor.
CREATE TABLE short_link_days (
  short_link_seq INTEGER NOT NULL REFERENCES short_links (seq) ON DELETE CASCADE,
  bucket_start   INTEGER NOT NULL, -- microseconds since 1970
  bots           INTEGER NOT NULL CHECK (bots >= 0),
  desktop        INTEGER NOT NULL CHECK (desktop >= 0),
  mobile         INTEGER NOT NULL CHECK (mobile >= 0),
  tablet         INTEGER NOT NULL CHECK (tablet >= 0),
  other          INTEGER NOT NULL CHECK (other >= 0),
  previews       INTEGER NOT NULL DEFAULT 0 CHECK (previews >= 0),
  PRIMARY KEY (short_link_seq, bucket_start)
) WITHOUT ROWID;

CREATE INDEX short_link_days_start ON short_link_days (bucket_start);

-- Visits by referring host. The number of hosts per short link is limited.
CREATE TABLE short_link_referrers (
  short_link_seq INTEGER NOT NULL REFERENCES short_links (seq) ON DELETE CASCADE,
  host           TEXT    NOT NULL, -- '*' = all others; direct visits are in short_links
  visits         INTEGER NOT NULL CHECK (visits >= 0),
  PRIMARY KEY (short_link_seq, host)
) WITHOUT ROWID;

-- The archive: expired short links with their visits. The reaper moves them here, so that redirects read a small table.
-- Their keys stay taken. The columns are those of short_links, short_link_days and short_link_referrers.
CREATE TABLE archived_short_links (
  seq             INTEGER PRIMARY KEY, -- as in short_links
  short_key       TEXT    NOT NULL, -- not in short_links
  long_url        TEXT    NOT NULL,
  canonical_url   TEXT    NOT NULL,
  title           TEXT    NOT NULL,
  search_text     TEXT    NOT NULL,
  max_visits      INTEGER NOT NULL CHECK (max_visits >= 0),
  disabled        INTEGER NOT NULL CHECK (disabled IN (0, 1)),
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  version         INTEGER NOT NULL,
  expires_at      INTEGER,
  exhausted_at    INTEGER,
  deleted_at      INTEGER,
  visits          INTEGER NOT NULL CHECK (visits >= 0),
  bots            INTEGER NOT NULL CHECK (bots >= 0),
  last_visited_at INTEGER,
  owner           TEXT    NOT NULL,
  private_to      TEXT    NOT NULL,
  direct          INTEGER NOT NULL CHECK (direct >= 0),
  previews        INTEGER NOT NULL CHECK (previews >= 0),
  -- When it expired or reached its visit limit, whichever was first. SHORT_KEEP_EXPIRED counts from then on.
  ended_at        INTEGER NOT NULL GENERATED ALWAYS AS (
    CASE WHEN expires_at IS NULL OR exhausted_at < expires_at THEN exhausted_at ELSE expires_at END) STORED
);

CREATE INDEX archived_short_links_key ON archived_short_links (short_key);
CREATE INDEX archived_short_links_created ON archived_short_links (created_at, short_key, private_to, disabled)
  WHERE deleted_at IS NULL;
CREATE INDEX archived_short_links_disabled ON archived_short_links (created_at, short_key)
  WHERE disabled AND deleted_at IS NULL;
CREATE INDEX archived_short_links_canonical ON archived_short_links (canonical_url, private_to);
CREATE INDEX archived_short_links_version ON archived_short_links (version);
-- What the reaper deletes.
CREATE INDEX archived_short_links_ended ON archived_short_links (ended_at) WHERE deleted_at IS NULL;
CREATE INDEX archived_short_links_deleted ON archived_short_links (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE archived_short_link_days (
  short_link_seq INTEGER NOT NULL REFERENCES archived_short_links (seq) ON DELETE CASCADE,
  bucket_start   INTEGER NOT NULL,
  bots           INTEGER NOT NULL CHECK (bots >= 0),
  desktop        INTEGER NOT NULL CHECK (desktop >= 0),
  mobile         INTEGER NOT NULL CHECK (mobile >= 0),
  tablet         INTEGER NOT NULL CHECK (tablet >= 0),
  other          INTEGER NOT NULL CHECK (other >= 0),
  previews       INTEGER NOT NULL CHECK (previews >= 0),
  PRIMARY KEY (short_link_seq, bucket_start)
) WITHOUT ROWID;

CREATE INDEX archived_short_link_days_start ON archived_short_link_days (bucket_start);

CREATE TABLE archived_short_link_referrers (
  short_link_seq INTEGER NOT NULL REFERENCES archived_short_links (seq) ON DELETE CASCADE,
  host           TEXT    NOT NULL,
  visits         INTEGER NOT NULL CHECK (visits >= 0),
  PRIMARY KEY (short_link_seq, host)
) WITHOUT ROWID;
