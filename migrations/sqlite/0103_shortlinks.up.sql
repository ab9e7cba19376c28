-- Short links and their visits. Times (…_at) are microseconds since 1970, NULL = never.

CREATE TABLE short_links (
  seq             INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again, so that a visit that is counted late cannot be another link's
  short_key       TEXT    NOT NULL UNIQUE,
  long_url        TEXT    NOT NULL, -- as it was given
  canonical_url   TEXT    NOT NULL,
  title           TEXT    NOT NULL,
  search_text     TEXT    NOT NULL, -- key, title and URL as they are searched
  max_visits      INTEGER NOT NULL CHECK (max_visits >= 0), -- 0 = any number
  disabled        INTEGER NOT NULL CHECK (disabled IN (0, 1)),
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL, -- of what its owner set
  version         INTEGER NOT NULL DEFAULT 0, -- of the newest change of what its owner set; see short_link_version
  expires_at      INTEGER,
  exhausted_at    INTEGER,          -- when the last of max_visits was made
  deleted_at      INTEGER,          -- it can be restored until the reaper deletes it
  visits          INTEGER NOT NULL CHECK (visits >= 0),
  bots            INTEGER NOT NULL CHECK (bots >= 0), -- of the visits
  last_visited_at INTEGER
);

CREATE INDEX short_links_created   ON short_links (created_at, short_key) WHERE deleted_at IS NULL;
CREATE INDEX short_links_disabled  ON short_links (created_at, short_key) WHERE disabled AND deleted_at IS NULL;
CREATE INDEX short_links_canonical ON short_links (canonical_url);
CREATE INDEX short_links_version   ON short_links (version);
-- What the reaper deletes.
CREATE INDEX short_links_expires   ON short_links (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX short_links_exhausted ON short_links (exhausted_at) WHERE exhausted_at IS NOT NULL;
CREATE INDEX short_links_deleted   ON short_links (deleted_at) WHERE deleted_at IS NOT NULL;

-- The version of the newest change of any short link. Changes are committed in the order of their versions, so an
-- instance that has seen a version has seen all changes before it (ADR 14).
CREATE TABLE short_link_version (
  id     INTEGER PRIMARY KEY CHECK (id = 1), -- there is one row
  newest INTEGER NOT NULL
);
INSERT INTO short_link_version (id, newest) VALUES (1, 0);

-- Visits by day (UTC): those of bots, and those of people by their device. No row tells one visitor from another.
CREATE TABLE short_link_days (
  short_link_seq INTEGER NOT NULL REFERENCES short_links (seq) ON DELETE CASCADE,
  bucket_start   INTEGER NOT NULL, -- microseconds since 1970
  bots           INTEGER NOT NULL CHECK (bots >= 0),
  desktop        INTEGER NOT NULL CHECK (desktop >= 0),
  mobile         INTEGER NOT NULL CHECK (mobile >= 0),
  tablet         INTEGER NOT NULL CHECK (tablet >= 0),
  other          INTEGER NOT NULL CHECK (other >= 0),
  PRIMARY KEY (short_link_seq, bucket_start)
) WITHOUT ROWID;

CREATE INDEX short_link_days_start ON short_link_days (bucket_start);

-- Visits of people by referring host; only so many hosts of a short link have a row of their own.
CREATE TABLE short_link_referrers (
  short_link_seq INTEGER NOT NULL REFERENCES short_links (seq) ON DELETE CASCADE,
  host           TEXT    NOT NULL, -- '' = direct or unknown, '*' = all others
  visits         INTEGER NOT NULL CHECK (visits >= 0),
  PRIMARY KEY (short_link_seq, host)
) WITHOUT ROWID;
