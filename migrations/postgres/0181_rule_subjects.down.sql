ALTER TABLE maintenance DROP COLUMN subjects;
ALTER TABLE alert_rules DROP COLUMN subjects;
