ALTER INDEX alerts_unacknowledged RENAME TO alerts_unattended;
ALTER INDEX alert_subjects_since RENAME TO alert_members_since;
ALTER INDEX alert_subjects_open RENAME TO alert_members_open;
ALTER TABLE alert_subjects RENAME TO alert_members;
ALTER TABLE alerts RENAME COLUMN open_subject_count TO open_members;
ALTER TABLE alerts RENAME COLUMN subject_count TO members;
