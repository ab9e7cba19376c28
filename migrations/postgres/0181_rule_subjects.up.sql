-- Rules and maintenance windows can name items of all kinds. The list is JSON: kinds and ids.
ALTER TABLE alert_rules ADD COLUMN subjects TEXT NOT NULL DEFAULT '[]';
ALTER TABLE maintenance ADD COLUMN subjects TEXT NOT NULL DEFAULT '[]';
