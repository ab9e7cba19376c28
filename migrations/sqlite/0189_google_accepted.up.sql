-- When Google first accepted a request with the credentials of a website. NULL = not known yet.
ALTER TABLE websites ADD COLUMN google_accepted_at INTEGER;
