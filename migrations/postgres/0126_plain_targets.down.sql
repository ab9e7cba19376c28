ALTER TABLE targets RENAME COLUMN recent_checks TO beats;
