CREATE OR REPLACE FUNCTION jobs_count_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  SELECT 'jobs', 0, s.private_to, c.state, pg_backend_pid() % 16, c.n
  FROM (VALUES (OLD.source_seq, CASE WHEN OLD.deleted_at IS NULL THEN OLD.status ELSE 'deleted' END, -1), (NEW.source_seq, CASE WHEN NEW.deleted_at IS NULL THEN NEW.status ELSE 'deleted' END, 1)) AS c (source_seq, state, n) JOIN sources AS s ON s.seq = c.source_seq
  ON CONFLICT (counted, block, private_to, state, slot) DO UPDATE SET n = row_counts.n + excluded.n;
  RETURN NULL;
END $$;
ALTER TABLE crawl_hosts DROP COLUMN silent_since;
ALTER TABLE jobs DROP COLUMN forced;
