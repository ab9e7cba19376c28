ALTER TABLE link_changes RENAME COLUMN created_by TO made_by;
ALTER TABLE link_refreshes RENAME COLUMN created_by TO made_by;
