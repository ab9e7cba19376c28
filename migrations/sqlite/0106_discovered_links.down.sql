DELETE FROM discovered_links WHERE deleted_at IS NOT NULL;
DROP INDEX discovered_links_deleted;
ALTER TABLE discovered_links DROP COLUMN deleted_at;
