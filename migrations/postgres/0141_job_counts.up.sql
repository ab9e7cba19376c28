-- Numbers of crawl jobs, as row_counts has them of links. A state is a status, or deleted. A job is visible to whom its source is.
INSERT INTO row_counts (counted, block, private_to, state, slot, n)
SELECT 'jobs', 0, s.private_to, CASE WHEN j.deleted_at IS NULL THEN j.status ELSE 'deleted' END, 0, count(*) FROM jobs AS j JOIN sources AS s ON s.seq = j.source_seq GROUP BY 3, 4;

CREATE FUNCTION jobs_count_rows() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  SELECT 'jobs', 0, s.private_to, CASE WHEN j.deleted_at IS NULL THEN j.status ELSE 'deleted' END, pg_backend_pid() % 16, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END
  FROM changed AS j JOIN sources AS s ON s.seq = j.source_seq GROUP BY 3, 4 ORDER BY 3, 4
  ON CONFLICT (counted, block, private_to, state, slot) DO UPDATE SET n = row_counts.n + excluded.n;
  RETURN NULL;
END $$;

CREATE FUNCTION jobs_count_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  SELECT 'jobs', 0, s.private_to, c.state, pg_backend_pid() % 16, c.n
  FROM (VALUES (OLD.source_seq, CASE WHEN OLD.deleted_at IS NULL THEN OLD.status ELSE 'deleted' END, -1), (NEW.source_seq, CASE WHEN NEW.deleted_at IS NULL THEN NEW.status ELSE 'deleted' END, 1)) AS c (source_seq, state, n) JOIN sources AS s ON s.seq = c.source_seq
  ON CONFLICT (counted, block, private_to, state, slot) DO UPDATE SET n = row_counts.n + excluded.n;
  RETURN NULL;
END $$;

CREATE FUNCTION sources_count_jobs() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  SELECT 'jobs', 0, c.private_to, CASE WHEN j.deleted_at IS NULL THEN j.status ELSE 'deleted' END, pg_backend_pid() % 16, sum(c.n) FROM jobs AS j CROSS JOIN (VALUES (OLD.private_to, -1), (NEW.private_to, 1)) AS c (private_to, n)
  WHERE j.source_seq = NEW.seq GROUP BY 3, 4 ORDER BY 3, 4
  ON CONFLICT (counted, block, private_to, state, slot) DO UPDATE SET n = row_counts.n + excluded.n;
  RETURN NULL;
END $$;

CREATE FUNCTION sources_delete_jobs() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM jobs WHERE source_seq = OLD.seq;
  RETURN OLD;
END $$;

CREATE TRIGGER jobs_count_insert AFTER INSERT ON jobs REFERENCING NEW TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION jobs_count_rows();

CREATE TRIGGER jobs_count_delete AFTER DELETE ON jobs REFERENCING OLD TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION jobs_count_rows();

CREATE TRIGGER jobs_count_update AFTER UPDATE OF source_seq, status, deleted_at ON jobs FOR EACH ROW
WHEN (OLD.source_seq <> NEW.source_seq OR OLD.status <> NEW.status OR (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL))
EXECUTE FUNCTION jobs_count_update();

CREATE TRIGGER sources_count_jobs AFTER UPDATE OF private_to ON sources FOR EACH ROW
WHEN (OLD.private_to <> NEW.private_to) EXECUTE FUNCTION sources_count_jobs();

-- Jobs go before their source, which the triggers of jobs read.
CREATE TRIGGER sources_delete_jobs BEFORE DELETE ON sources FOR EACH ROW EXECUTE FUNCTION sources_delete_jobs();
