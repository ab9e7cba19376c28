ALTER TABLE alerts RENAME COLUMN members TO subject_count;
ALTER TABLE alerts RENAME COLUMN open_members TO open_subject_count;
ALTER TABLE alert_members RENAME TO alert_subjects;
DROP INDEX alert_members_open;
DROP INDEX alert_members_since;
DROP INDEX alerts_unattended;
CREATE INDEX alert_subjects_open ON alert_subjects (subject_id, event) WHERE ended_at IS NULL;
CREATE INDEX alert_subjects_since ON alert_subjects (subject_id, event, since_at);
CREATE INDEX alerts_unacknowledged ON alerts (created_at, id, private_to) WHERE fired_at IS NOT NULL AND resolved_at IS NULL AND acknowledged_at IS NULL;
