DROP INDEX alerts_silenced;
DROP INDEX alerts_acknowledged;
DROP INDEX alert_members_since;
ALTER TABLE alert_members DROP COLUMN changes;
ALTER TABLE alerts ADD COLUMN grown_at INTEGER NOT NULL DEFAULT 0;
UPDATE alerts SET grown_at = created_at;
ALTER TABLE alert_notices ADD COLUMN grown INTEGER NOT NULL DEFAULT 0 CHECK (grown IN (0, 1));
ALTER TABLE alert_notices DROP COLUMN announced_at;
DROP TABLE alert_mentions;
