ALTER TABLE pages DROP COLUMN changed_at;
