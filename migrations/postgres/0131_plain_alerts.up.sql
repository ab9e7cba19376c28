ALTER TABLE alerts RENAME COLUMN members TO subject_count;
ALTER TABLE alerts RENAME COLUMN open_members TO open_subject_count;
ALTER TABLE alert_members RENAME TO alert_subjects;
ALTER INDEX alert_members_open RENAME TO alert_subjects_open;
ALTER INDEX alert_members_since RENAME TO alert_subjects_since;
ALTER INDEX alerts_unattended RENAME TO alerts_unacknowledged;
