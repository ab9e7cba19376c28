-- The archive: expired short links with their visits. The reaper moves them here, so that redirects read a small table. Their
-- keys stay taken. Columns are those of short_links, short_link_days and short_link_referrers.
CREATE TABLE archived_short_links (
  seq             BIGINT PRIMARY KEY, -- as in short_links
  short_key       TEXT COLLATE "C" NOT NULL, -- unique, unless an older instance that still runs has added it again
  long_url        TEXT NOT NULL,
  canonical_url   TEXT COLLATE "C" NOT NULL,
  title           TEXT NOT NULL,
  search_text     TEXT COLLATE "C" NOT NULL,
  max_visits      BIGINT NOT NULL CHECK (max_visits >= 0),
  disabled        BOOLEAN NOT NULL,
  created_at      BIGINT NOT NULL,
  updated_at      BIGINT NOT NULL,
  version         BIGINT NOT NULL,
  expires_at      BIGINT,
  exhausted_at    BIGINT,
  deleted_at      BIGINT,
  visits          BIGINT NOT NULL CHECK (visits >= 0),
  bots            BIGINT NOT NULL CHECK (bots >= 0),
  last_visited_at BIGINT,
  owner           TEXT COLLATE "C" NOT NULL,
  private_to      TEXT COLLATE "C" NOT NULL,
  direct          BIGINT NOT NULL CHECK (direct >= 0),
  previews        BIGINT NOT NULL CHECK (previews >= 0),
  -- When it expired or reached its visit limit, whichever was first. SHORT_KEEP_EXPIRED counts from then on.
  ended_at        BIGINT NOT NULL GENERATED ALWAYS AS (
    CASE WHEN expires_at IS NULL OR exhausted_at < expires_at THEN exhausted_at ELSE expires_at END) STORED
);

CREATE INDEX archived_short_links_key       ON archived_short_links (short_key);
CREATE INDEX archived_short_links_created   ON archived_short_links (created_at, short_key, private_to, disabled) WHERE deleted_at IS NULL;
CREATE INDEX archived_short_links_disabled  ON archived_short_links (created_at, short_key) WHERE disabled AND deleted_at IS NULL;
CREATE INDEX archived_short_links_canonical ON archived_short_links (canonical_url, private_to);
CREATE INDEX archived_short_links_version   ON archived_short_links (version);
-- What the reaper deletes.
CREATE INDEX archived_short_links_ended     ON archived_short_links (ended_at) WHERE deleted_at IS NULL;
CREATE INDEX archived_short_links_deleted   ON archived_short_links (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE archived_short_link_days (
  short_link_seq BIGINT NOT NULL REFERENCES archived_short_links (seq) ON DELETE CASCADE,
  bucket_start   BIGINT NOT NULL,
  bots           BIGINT NOT NULL CHECK (bots >= 0),
  desktop        BIGINT NOT NULL CHECK (desktop >= 0),
  mobile         BIGINT NOT NULL CHECK (mobile >= 0),
  tablet         BIGINT NOT NULL CHECK (tablet >= 0),
  other          BIGINT NOT NULL CHECK (other >= 0),
  previews       BIGINT NOT NULL CHECK (previews >= 0),
  PRIMARY KEY (short_link_seq, bucket_start)
);

CREATE INDEX archived_short_link_days_start ON archived_short_link_days (bucket_start);

CREATE TABLE archived_short_link_referrers (
  short_link_seq BIGINT NOT NULL REFERENCES archived_short_links (seq) ON DELETE CASCADE,
  host           TEXT COLLATE "C" NOT NULL,
  visits         BIGINT NOT NULL CHECK (visits >= 0),
  PRIMARY KEY (short_link_seq, host)
);
