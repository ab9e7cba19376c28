-- From schema 193, the last one before the first release, to 207. They differ in the CHECK of two states, and in the
-- names of constraints whose table or column was renamed.
ALTER TABLE page_counts ADD CHECK (status IN ('pending', 'submitted', 'indexed', 'not_indexed', 'failed', 'gone'));
ALTER TABLE coverage_days ADD CHECK (status IN ('pending', 'submitted', 'indexed', 'not_indexed', 'failed', 'gone'));

ALTER TABLE frontier RENAME CONSTRAINT frontier_crawl_seq_url_hash_key TO frontier_crawl_seq_url_hash_scope_seq_key;
ALTER TABLE archived_bodies RENAME CONSTRAINT archived_blobs_pkey TO archived_bodies_pkey;

ALTER TABLE websites RENAME CONSTRAINT websites_sitemaps_by_fkey TO websites_sitemaps_claimed_by_fkey;
ALTER TABLE websites RENAME CONSTRAINT websites_submission_by_fkey TO websites_submission_claimed_by_fkey;
ALTER TABLE websites RENAME CONSTRAINT websites_verification_by_fkey TO websites_verification_claimed_by_fkey;
ALTER TABLE sitemaps RENAME CONSTRAINT sitemaps_reading_check TO sitemaps_generation_check;
ALTER TABLE pages RENAME CONSTRAINT pages_path_at_check TO pages_path_start_check;

ALTER TABLE alerts RENAME CONSTRAINT alerts_members_check TO alerts_subject_count_check;
ALTER TABLE alerts RENAME CONSTRAINT alerts_open_members_check TO alerts_open_subject_count_check;
ALTER TABLE alert_subjects RENAME CONSTRAINT alert_members_pkey TO alert_subjects_pkey;
ALTER TABLE alert_subjects RENAME CONSTRAINT alert_members_alert_seq_fkey TO alert_subjects_alert_seq_fkey;
ALTER TABLE alert_subjects RENAME CONSTRAINT alert_members_changes_check TO alert_subjects_changes_check;
