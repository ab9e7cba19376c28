-- Websites whose IndexNow has an error are found without reading other rows. An error may be left after IndexNow is disabled.
CREATE INDEX websites_indexnow_refused ON websites (created_at, id, private_to) WHERE indexnow_error <> '' AND indexnow_key <> '' AND deleted_at IS NULL;
