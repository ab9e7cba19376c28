-- Short links and the reaper (seed 004). Times are microseconds since 1970, NULL = never.

CREATE TABLE short_links (
  seq             INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: what is counted late finds no stranger's link
  short_key       TEXT    NOT NULL UNIQUE,
  long_url        TEXT    NOT NULL, -- as it was given
  canonical_url   TEXT    NOT NULL,
  title           TEXT    NOT NULL,
  folded          TEXT    NOT NULL, -- key, title and address as they are searched
  max_visits      INTEGER NOT NULL, -- 0 = any number
  disabled        INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL, -- of what its owner set; grows with each change, so that caches know the newer of two
  expires_at      INTEGER,
  exhausted_at    INTEGER,          -- when the last of max_visits was made
  deleted_at      INTEGER,          -- it can be restored until the reaper comes
  visits          INTEGER NOT NULL,
  bots            INTEGER NOT NULL, -- of the visits
  last_visited_at INTEGER
);

CREATE INDEX short_links_created   ON short_links (created_at, short_key) WHERE deleted_at IS NULL;
CREATE INDEX short_links_disabled  ON short_links (created_at, short_key) WHERE disabled AND deleted_at IS NULL;
CREATE INDEX short_links_canonical ON short_links (canonical_url);
CREATE INDEX short_links_updated   ON short_links (updated_at);
-- What the reaper looks for.
CREATE INDEX short_links_expires   ON short_links (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX short_links_exhausted ON short_links (exhausted_at) WHERE exhausted_at IS NOT NULL;
CREATE INDEX short_links_deleted   ON short_links (deleted_at) WHERE deleted_at IS NOT NULL;

-- Visits by day (UTC): those of bots, and those of people by their device. No row tells one visitor from another.
CREATE TABLE short_link_days (
  link_seq INTEGER NOT NULL REFERENCES short_links (seq) ON DELETE CASCADE,
  day      INTEGER NOT NULL, -- its start
  bots     INTEGER NOT NULL,
  desktop  INTEGER NOT NULL,
  mobile   INTEGER NOT NULL,
  tablet   INTEGER NOT NULL,
  other    INTEGER NOT NULL,
  PRIMARY KEY (link_seq, day)
) WITHOUT ROWID;

CREATE INDEX short_link_days_day ON short_link_days (day);

-- Visits of people by the host that sent them; only so many hosts of a link have a row of their own.
CREATE TABLE short_link_referrers (
  link_seq INTEGER NOT NULL REFERENCES short_links (seq) ON DELETE CASCADE,
  host     TEXT    NOT NULL, -- '' = none was told, '*' = all others
  visits   INTEGER NOT NULL,
  PRIMARY KEY (link_seq, host)
) WITHOUT ROWID;

-- What the reaper did in all, by what it deletes. Written in the transactions that delete.
CREATE TABLE cleanup_totals (
  subject         TEXT    NOT NULL PRIMARY KEY,
  cleaned         INTEGER NOT NULL,
  last_batch_size INTEGER NOT NULL,
  successful_runs INTEGER NOT NULL,
  failed_runs     INTEGER NOT NULL,
  duration        INTEGER NOT NULL, -- nanoseconds, of the successful runs together
  last_run_at     INTEGER           -- when the last successful run ended
) WITHOUT ROWID;

-- Its last runs.
CREATE TABLE cleanup_runs (
  started_at INTEGER NOT NULL,
  subject    TEXT    NOT NULL,
  duration   INTEGER NOT NULL, -- nanoseconds
  cleaned    INTEGER NOT NULL,
  error      TEXT    NOT NULL, -- '' = it succeeded
  PRIMARY KEY (started_at, subject)
) WITHOUT ROWID;

-- Keys of all scopes are dropped together.
DROP INDEX idempotency_keys_created;
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);
