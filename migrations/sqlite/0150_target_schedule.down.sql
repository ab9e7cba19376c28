ALTER TABLE targets ADD COLUMN due_at INTEGER;
ALTER TABLE targets ADD COLUMN next_check_at INTEGER;
ALTER TABLE targets ADD COLUMN postponed_until INTEGER;
ALTER TABLE targets ADD COLUMN claimed_by TEXT REFERENCES instances (id) ON DELETE SET NULL;

UPDATE targets SET due_at = s.due_at, next_check_at = s.next_check_at, postponed_until = s.postponed_until, claimed_by = s.claimed_by
  FROM target_schedule AS s WHERE s.target_seq = targets.seq;

DROP TABLE target_schedule;

CREATE INDEX targets_due     ON targets (next_check_at) WHERE next_check_at IS NOT NULL AND claimed_by IS NULL;
CREATE INDEX targets_claimed ON targets (claimed_by) WHERE claimed_by IS NOT NULL;
