-- Whose channels, rules and alerts are private. An event, an alert and its messages are private if their subject is.
ALTER TABLE events      ADD COLUMN private_to TEXT NOT NULL DEFAULT ''; -- the owner of a private subject, '' = shared
ALTER TABLE alerts      ADD COLUMN private_to TEXT NOT NULL DEFAULT '';
ALTER TABLE channels    ADD COLUMN owner      TEXT NOT NULL DEFAULT 'system';
ALTER TABLE channels    ADD COLUMN private_to TEXT NOT NULL DEFAULT '';
ALTER TABLE alert_rules ADD COLUMN owner      TEXT NOT NULL DEFAULT 'system';
ALTER TABLE alert_rules ADD COLUMN private_to TEXT NOT NULL DEFAULT '';

-- Lists and counts of alerts pass over those of others without reading their rows.
DROP INDEX alerts_fired;
DROP INDEX alerts_firing;
DROP INDEX alerts_unattended;
DROP INDEX alerts_severity;
CREATE INDEX alerts_fired      ON alerts (created_at, id, private_to) WHERE fired_at IS NOT NULL;
CREATE INDEX alerts_firing     ON alerts (created_at, id, private_to) WHERE fired_at IS NOT NULL AND resolved_at IS NULL;
CREATE INDEX alerts_unattended ON alerts (created_at, id, private_to) WHERE fired_at IS NOT NULL AND resolved_at IS NULL AND acknowledged_at IS NULL;
CREATE INDEX alerts_severity   ON alerts (severity, created_at, id, private_to) WHERE fired_at IS NOT NULL AND resolved_at IS NULL AND acknowledged_at IS NULL;
