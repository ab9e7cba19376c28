-- started_at is set only for checks that take longer than a second, so a usual check is not written once more. With it,
-- targets that wait for a check are known. requested_at puts a check before all others of its host.
ALTER TABLE target_schedule ADD COLUMN started_at INTEGER; -- start of the check in progress; NULL = none, or it is short
ALTER TABLE target_schedule ADD COLUMN requested_at INTEGER; -- when a check was requested that is not done; NULL = none
CREATE INDEX target_schedule_started   ON target_schedule (started_at) WHERE started_at IS NOT NULL;
CREATE INDEX target_schedule_requested ON target_schedule (requested_at) WHERE requested_at IS NOT NULL;
