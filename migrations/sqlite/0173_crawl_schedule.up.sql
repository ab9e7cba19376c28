-- The next or current run was started by a user, outside the schedule.
ALTER TABLE jobs ADD COLUMN forced INTEGER NOT NULL DEFAULT 0 CHECK (forced IN (0, 1));
-- The host has not responded since: its last response and the wait that it demanded, or the first request after a while. NULL = unknown.
ALTER TABLE crawl_hosts ADD COLUMN silent_since INTEGER;
