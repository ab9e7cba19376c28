ALTER TABLE targets RENAME COLUMN beats TO recent_checks;
