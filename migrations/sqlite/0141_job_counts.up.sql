-- Numbers of crawl jobs, as row_counts has them of links. A state is a status, or deleted. A job is visible to whom its source is.
INSERT INTO row_counts (counted, block, private_to, state, slot, n)
SELECT 'jobs', 0, s.private_to, CASE WHEN j.deleted_at IS NULL THEN j.status ELSE 'deleted' END, 0, count(*) FROM jobs AS j JOIN sources AS s ON s.seq = j.source_seq GROUP BY 3, 4;

CREATE TRIGGER jobs_count_insert AFTER INSERT ON jobs BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  VALUES ('jobs', 0, (SELECT private_to FROM sources WHERE seq = NEW.source_seq), CASE WHEN NEW.deleted_at IS NULL THEN NEW.status ELSE 'deleted' END, 0, 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER jobs_count_delete AFTER DELETE ON jobs BEGIN
  UPDATE row_counts SET n = n - 1 WHERE counted = 'jobs' AND block = 0 AND private_to = (SELECT private_to FROM sources WHERE seq = OLD.source_seq)
    AND state = CASE WHEN OLD.deleted_at IS NULL THEN OLD.status ELSE 'deleted' END AND slot = 0;
END;

CREATE TRIGGER jobs_count_update AFTER UPDATE OF source_seq, status, deleted_at ON jobs
WHEN OLD.source_seq <> NEW.source_seq OR OLD.status <> NEW.status OR (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL) BEGIN
  UPDATE row_counts SET n = n - 1 WHERE counted = 'jobs' AND block = 0 AND private_to = (SELECT private_to FROM sources WHERE seq = OLD.source_seq)
    AND state = CASE WHEN OLD.deleted_at IS NULL THEN OLD.status ELSE 'deleted' END AND slot = 0;
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  VALUES ('jobs', 0, (SELECT private_to FROM sources WHERE seq = NEW.source_seq), CASE WHEN NEW.deleted_at IS NULL THEN NEW.status ELSE 'deleted' END, 0, 1)
  ON CONFLICT DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER sources_count_jobs AFTER UPDATE OF private_to ON sources WHEN OLD.private_to <> NEW.private_to BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  SELECT 'jobs', 0, c.private_to, CASE WHEN j.deleted_at IS NULL THEN j.status ELSE 'deleted' END, 0, sum(c.n) FROM jobs AS j JOIN (SELECT OLD.private_to AS private_to, -1 AS n UNION ALL SELECT NEW.private_to, 1) AS c
  WHERE j.source_seq = NEW.seq GROUP BY 3, 4
  ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;

-- Jobs go before their source, which the triggers of jobs read.
CREATE TRIGGER sources_delete_jobs BEFORE DELETE ON sources BEGIN
  DELETE FROM jobs WHERE source_seq = OLD.seq;
END;
