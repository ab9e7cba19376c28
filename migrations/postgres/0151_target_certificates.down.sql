DROP INDEX targets_tls;
CREATE INDEX targets_tls ON targets (tls_expires_at, seq, private_to) WHERE tls_expires_at IS NOT NULL AND NOT paused AND deleted_at IS NULL;
