DROP TABLE alert_sent;
ALTER TABLE alert_rules DROP COLUMN group_wait_seconds;
ALTER TABLE alert_notices DROP COLUMN recovered_at;
ALTER TABLE alert_mentions DROP COLUMN recovered_at;
ALTER TABLE alert_subjects DROP COLUMN acknowledged_at;
ALTER TABLE alerts DROP COLUMN part_of_id;
ALTER TABLE alerts DROP COLUMN recovery_of;
