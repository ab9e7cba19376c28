DROP INDEX alerts_unacknowledged;
DROP INDEX alert_subjects_since;
DROP INDEX alert_subjects_open;
CREATE INDEX alerts_unattended ON alerts (created_at, id, private_to) WHERE fired_at IS NOT NULL AND resolved_at IS NULL AND acknowledged_at IS NULL;
ALTER TABLE alert_subjects RENAME TO alert_members;
CREATE INDEX alert_members_open ON alert_members (subject_id, event) WHERE ended_at IS NULL;
CREATE INDEX alert_members_since ON alert_members (subject_id, event, since_at);
ALTER TABLE alerts RENAME COLUMN open_subject_count TO open_members;
ALTER TABLE alerts RENAME COLUMN subject_count TO members;
