-- The next or current run was started by a user, outside the schedule.
ALTER TABLE jobs ADD COLUMN forced BOOLEAN NOT NULL DEFAULT false;
-- The host has not responded since: its last response and the wait that it demanded, or the first request after a while. NULL = unknown.
ALTER TABLE crawl_hosts ADD COLUMN silent_since BIGINT;

-- A change between two states that count alike, such as the end of a run whose job is deleted, changes no count.
CREATE OR REPLACE FUNCTION jobs_count_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO row_counts (counted, block, private_to, state, slot, n)
  SELECT 'jobs', 0, s.private_to, c.state, pg_backend_pid() % 16, sum(c.n)
  FROM (VALUES (OLD.source_seq, CASE WHEN OLD.deleted_at IS NULL THEN OLD.status ELSE 'deleted' END, -1), (NEW.source_seq, CASE WHEN NEW.deleted_at IS NULL THEN NEW.status ELSE 'deleted' END, 1)) AS c (source_seq, state, n) JOIN sources AS s ON s.seq = c.source_seq
  GROUP BY 3, 4 HAVING sum(c.n) <> 0 ORDER BY 3, 4
  ON CONFLICT (counted, block, private_to, state, slot) DO UPDATE SET n = row_counts.n + excluded.n;
  RETURN NULL;
END $$;
