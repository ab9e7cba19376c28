-- Discovered links that were deleted can be restored until the reaper deletes them.
ALTER TABLE discovered_links ADD COLUMN deleted_at BIGINT; -- NULL = not deleted

CREATE INDEX discovered_links_deleted ON discovered_links (deleted_at) WHERE deleted_at IS NOT NULL;
