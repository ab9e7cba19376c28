ALTER TABLE links DROP COLUMN fetched_description;
