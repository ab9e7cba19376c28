-- Numbers of rows, so that lists and pages need not count them. Triggers on the counted tables maintain them.
CREATE TABLE row_counts (
  counted    TEXT    NOT NULL, -- the table
  block      INTEGER NOT NULL, -- of links: seq / 4096, by which a list finds a late page; else 0
  private_to TEXT    NOT NULL, -- of the rows
  state      TEXT    NOT NULL, -- what the table's pages tell apart, such as the status
  slot       INTEGER NOT NULL, -- always 0: only PostgreSQL has several writers
  n          INTEGER NOT NULL,
  PRIMARY KEY (counted, block, private_to, state, slot)
) WITHOUT ROWID;

INSERT INTO row_counts (counted, block, private_to, state, slot, n)
SELECT 'links', seq >> 12, private_to, CASE WHEN expired_at IS NULL THEN health ELSE 'expired ' || health END, 0, count(*) FROM links GROUP BY 2, 3, 4;

CREATE TRIGGER links_count_insert AFTER INSERT ON links BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  VALUES ('links', NEW.seq >> 12, NEW.private_to, CASE WHEN NEW.expired_at IS NULL THEN NEW.health ELSE 'expired ' || NEW.health END, 0, 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER links_count_delete AFTER DELETE ON links BEGIN
  UPDATE row_counts SET n = n - 1 WHERE counted = 'links' AND block = OLD.seq >> 12 AND private_to = OLD.private_to
    AND state = CASE WHEN OLD.expired_at IS NULL THEN OLD.health ELSE 'expired ' || OLD.health END AND slot = 0;
END;

CREATE TRIGGER links_count_update AFTER UPDATE OF private_to, health, expired_at ON links
WHEN OLD.private_to <> NEW.private_to OR CASE WHEN OLD.expired_at IS NULL THEN OLD.health ELSE 'expired ' || OLD.health END <> CASE WHEN NEW.expired_at IS NULL THEN NEW.health ELSE 'expired ' || NEW.health END BEGIN
  UPDATE row_counts SET n = n - 1 WHERE counted = 'links' AND block = OLD.seq >> 12 AND private_to = OLD.private_to
    AND state = CASE WHEN OLD.expired_at IS NULL THEN OLD.health ELSE 'expired ' || OLD.health END AND slot = 0;
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  VALUES ('links', NEW.seq >> 12, NEW.private_to, CASE WHEN NEW.expired_at IS NULL THEN NEW.health ELSE 'expired ' || NEW.health END, 0, 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;

INSERT INTO row_counts (counted, block, private_to, state, slot, n) SELECT 'tags', 0, '', '', 0, count(*) FROM tags;

CREATE TRIGGER tags_count_insert AFTER INSERT ON tags BEGIN
  UPDATE row_counts SET n = n + 1 WHERE counted = 'tags' AND block = 0 AND private_to = '' AND state = '' AND slot = 0;
END;

CREATE TRIGGER tags_count_delete AFTER DELETE ON tags BEGIN
  UPDATE row_counts SET n = n - 1 WHERE counted = 'tags' AND block = 0 AND private_to = '' AND state = '' AND slot = 0;
END;

-- A list by health reads its keys and what they are filtered by from an index.
DROP INDEX links_state;
CREATE INDEX links_state ON links (expired_at, health, seq, private_to);
DROP INDEX links_gone;
CREATE INDEX links_gone  ON links (seq, private_to, health, expired_at) WHERE expired_at IS NOT NULL;
