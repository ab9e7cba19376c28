-- From schema 193, the last one before the first release, to 207. They differ in the CHECK of two states.
CREATE TABLE page_counts_new (
  website_seq INTEGER NOT NULL REFERENCES websites (seq) ON DELETE CASCADE,
  status      TEXT    NOT NULL CHECK (status IN ('pending', 'submitted', 'indexed', 'not_indexed', 'failed', 'gone')),
  cause       TEXT    NOT NULL,
  pages       INTEGER NOT NULL,
  PRIMARY KEY (website_seq, status, cause)
) WITHOUT ROWID;
INSERT INTO page_counts_new (website_seq, status, cause, pages)
SELECT website_seq, status, cause, pages FROM page_counts;
DROP TABLE page_counts;
ALTER TABLE page_counts_new RENAME TO page_counts;
CREATE INDEX page_counts_failed ON page_counts (website_seq) WHERE status = 'failed';

CREATE TABLE coverage_days_new (
  website_seq INTEGER NOT NULL REFERENCES websites (seq) ON DELETE CASCADE,
  day_at      INTEGER NOT NULL,
  status      TEXT    NOT NULL CHECK (status IN ('pending', 'submitted', 'indexed', 'not_indexed', 'failed', 'gone')),
  pages       INTEGER NOT NULL CHECK (pages >= 0),
  PRIMARY KEY (website_seq, day_at, status)
) WITHOUT ROWID;
INSERT INTO coverage_days_new (website_seq, day_at, status, pages)
SELECT website_seq, day_at, status, pages FROM coverage_days;
DROP TABLE coverage_days;
ALTER TABLE coverage_days_new RENAME TO coverage_days;
CREATE INDEX coverage_days_day ON coverage_days (day_at);
