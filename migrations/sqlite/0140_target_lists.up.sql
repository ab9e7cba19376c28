-- Numbers of targets, as row_counts has them of links. A state is a status, or deleted.
INSERT INTO row_counts (counted, block, private_to, state, slot, n)
SELECT 'targets', 0, private_to, CASE WHEN deleted_at IS NOT NULL THEN 'deleted' WHEN paused THEN 'paused' ELSE state END, 0, count(*) FROM targets GROUP BY 3, 4;

CREATE TRIGGER targets_count_insert AFTER INSERT ON targets BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  VALUES ('targets', 0, NEW.private_to, CASE WHEN NEW.deleted_at IS NOT NULL THEN 'deleted' WHEN NEW.paused THEN 'paused' ELSE NEW.state END, 0, 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER targets_count_delete AFTER DELETE ON targets BEGIN
  UPDATE row_counts SET n = n - 1 WHERE counted = 'targets' AND block = 0 AND private_to = OLD.private_to
    AND state = CASE WHEN OLD.deleted_at IS NOT NULL THEN 'deleted' WHEN OLD.paused THEN 'paused' ELSE OLD.state END AND slot = 0;
END;

CREATE TRIGGER targets_count_update AFTER UPDATE OF private_to, paused, state, deleted_at ON targets
WHEN OLD.private_to <> NEW.private_to OR OLD.paused <> NEW.paused OR OLD.state <> NEW.state OR (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL) BEGIN
  UPDATE row_counts SET n = n - 1 WHERE counted = 'targets' AND block = 0 AND private_to = OLD.private_to
    AND state = CASE WHEN OLD.deleted_at IS NOT NULL THEN 'deleted' WHEN OLD.paused THEN 'paused' ELSE OLD.state END AND slot = 0;
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  VALUES ('targets', 0, NEW.private_to, CASE WHEN NEW.deleted_at IS NOT NULL THEN 'deleted' WHEN NEW.paused THEN 'paused' ELSE NEW.state END, 0, 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;

-- Certificates are counted, and the newest outages listed, without reading other columns.
DROP INDEX targets_tls;
CREATE INDEX targets_tls  ON targets (tls_expires_at, seq, private_to) WHERE tls_expires_at IS NOT NULL AND NOT paused AND deleted_at IS NULL;
CREATE INDEX targets_down ON targets (state_since, seq, private_to) WHERE state = 'down' AND NOT paused AND deleted_at IS NULL;
