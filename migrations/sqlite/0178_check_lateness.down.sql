DROP INDEX target_schedule_requested;
DROP INDEX target_schedule_started;
ALTER TABLE target_schedule DROP COLUMN requested_at;
ALTER TABLE target_schedule DROP COLUMN started_at;
