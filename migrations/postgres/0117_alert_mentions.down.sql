DROP INDEX alerts_silenced;
DROP INDEX alerts_acknowledged;
DROP INDEX alert_members_since;
ALTER TABLE alert_members DROP COLUMN changes;
ALTER TABLE alerts ADD COLUMN grown_at BIGINT NOT NULL DEFAULT 0;
UPDATE alerts SET grown_at = created_at;
ALTER TABLE alert_notices ADD COLUMN grown BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE alert_notices DROP COLUMN announced_at;
DROP TABLE alert_mentions;
