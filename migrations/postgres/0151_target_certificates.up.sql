-- A list by certificate sorts keys from the index before it reads targets.
DROP INDEX targets_tls;
CREATE INDEX targets_tls ON targets (tls_expires_at, seq, created_at, id, private_to, paused, deleted_at) WHERE tls_expires_at IS NOT NULL AND NOT paused AND deleted_at IS NULL;
