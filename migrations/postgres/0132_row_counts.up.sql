-- Numbers of rows, so that lists and pages need not count them. Triggers on the counted tables maintain them.
CREATE TABLE row_counts (
  counted    TEXT COLLATE "C" NOT NULL, -- the table
  block      BIGINT NOT NULL,           -- of links: seq / 4096, by which a list finds a late page; else 0
  private_to TEXT COLLATE "C" NOT NULL, -- of the rows
  state      TEXT COLLATE "C" NOT NULL, -- what the table's pages tell apart, such as the status
  slot       BIGINT NOT NULL,           -- pg_backend_pid() % 16, so that writers seldom wait for each other; of links 0: they have one writer
  n          BIGINT NOT NULL,           -- of a slot, it can be negative
  PRIMARY KEY (counted, block, private_to, state, slot)
) WITH (fillfactor = 50); -- most updates find room in the page of the row

INSERT INTO row_counts (counted, block, private_to, state, slot, n)
SELECT 'links', seq >> 12, private_to, CASE WHEN expired_at IS NULL THEN health ELSE 'expired ' || health END, 0, count(*) FROM links GROUP BY 2, 3, 4;

CREATE FUNCTION links_count_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  SELECT 'links', seq >> 12, private_to, CASE WHEN expired_at IS NULL THEN health ELSE 'expired ' || health END, 0, count(*) FROM changed GROUP BY 2, 3, 4 ORDER BY 2, 3, 4
  ON CONFLICT (counted, block, private_to, state, slot) DO UPDATE SET n = row_counts.n + excluded.n;
  RETURN NULL;
END $$;

CREATE FUNCTION links_count_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  SELECT 'links', seq >> 12, private_to, CASE WHEN expired_at IS NULL THEN health ELSE 'expired ' || health END, 0, -count(*) FROM changed GROUP BY 2, 3, 4 ORDER BY 2, 3, 4
  ON CONFLICT (counted, block, private_to, state, slot) DO UPDATE SET n = row_counts.n + excluded.n;
  RETURN NULL;
END $$;

CREATE FUNCTION links_count_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  VALUES ('links', OLD.seq >> 12, OLD.private_to, CASE WHEN OLD.expired_at IS NULL THEN OLD.health ELSE 'expired ' || OLD.health END, 0, -1), ('links', NEW.seq >> 12, NEW.private_to, CASE WHEN NEW.expired_at IS NULL THEN NEW.health ELSE 'expired ' || NEW.health END, 0, 1)
  ON CONFLICT (counted, block, private_to, state, slot) DO UPDATE SET n = row_counts.n + excluded.n;
  RETURN NULL;
END $$;

CREATE TRIGGER links_count_insert AFTER INSERT ON links REFERENCING NEW TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION links_count_insert();

CREATE TRIGGER links_count_delete AFTER DELETE ON links REFERENCING OLD TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION links_count_delete();

CREATE TRIGGER links_count_update AFTER UPDATE OF private_to, health, expired_at ON links FOR EACH ROW
WHEN (OLD.private_to <> NEW.private_to OR CASE WHEN OLD.expired_at IS NULL THEN OLD.health ELSE 'expired ' || OLD.health END <> CASE WHEN NEW.expired_at IS NULL THEN NEW.health ELSE 'expired ' || NEW.health END)
EXECUTE FUNCTION links_count_update();

INSERT INTO row_counts (counted, block, private_to, state, slot, n) SELECT 'tags', 0, '', '', 0, count(*) FROM tags;

CREATE FUNCTION tags_count() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE row_counts SET n = n + (SELECT CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END FROM changed)
  WHERE counted = 'tags' AND block = 0 AND private_to = '' AND state = '' AND slot = 0;
  RETURN NULL;
END $$;

CREATE TRIGGER tags_count_insert AFTER INSERT ON tags REFERENCING NEW TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION tags_count();

CREATE TRIGGER tags_count_delete AFTER DELETE ON tags REFERENCING OLD TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION tags_count();

-- A list by health reads its keys and what they are filtered by from an index.
DROP INDEX links_state;
CREATE INDEX links_state   ON links (health, seq) INCLUDE (private_to) WHERE expired_at IS NULL;
DROP INDEX links_expired;
CREATE INDEX links_expired ON links (seq) INCLUDE (private_to, health) WHERE expired_at IS NOT NULL;
