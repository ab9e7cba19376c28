ALTER TABLE websites DROP COLUMN google_accepted_at;
