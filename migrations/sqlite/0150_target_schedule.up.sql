-- When a target is checked next, and by which instance it is being checked. Each check changes this twice, so it is
-- not in the wide rows of targets with their many indexes.
CREATE TABLE target_schedule (
  target_seq      INTEGER NOT NULL PRIMARY KEY REFERENCES targets (seq) ON DELETE CASCADE,
  due_at          INTEGER, -- since when a check is due; NULL = not to be checked
  next_check_at   INTEGER, -- when it may be claimed; NULL = not to be checked
  postponed_until INTEGER, -- the end of the last pause that the host asked for; NULL = it did not
  claimed_by      TEXT REFERENCES instances (id) ON DELETE SET NULL -- NULL = free
);

INSERT INTO target_schedule (target_seq, due_at, next_check_at, postponed_until, claimed_by)
  SELECT seq, due_at, next_check_at, postponed_until, claimed_by FROM targets;

DROP INDEX targets_due;
DROP INDEX targets_claimed;
-- Claiming removes a target from the first index, so the due ones come first in it.
CREATE INDEX target_schedule_due     ON target_schedule (next_check_at) WHERE next_check_at IS NOT NULL AND claimed_by IS NULL;
CREATE INDEX target_schedule_claimed ON target_schedule (claimed_by) WHERE claimed_by IS NOT NULL;

ALTER TABLE targets DROP COLUMN due_at;
ALTER TABLE targets DROP COLUMN next_check_at;
ALTER TABLE targets DROP COLUMN postponed_until;
ALTER TABLE targets DROP COLUMN claimed_by;
