ALTER TABLE link_refreshes RENAME COLUMN made_by TO created_by;
ALTER TABLE link_changes RENAME COLUMN made_by TO created_by;
