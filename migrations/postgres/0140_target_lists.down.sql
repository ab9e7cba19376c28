DROP INDEX targets_down;
DROP INDEX targets_tls;
CREATE INDEX targets_tls ON targets (tls_expires_at) WHERE tls_expires_at IS NOT NULL;

DROP TRIGGER targets_count_update ON targets;
DROP TRIGGER targets_count_delete ON targets;
DROP TRIGGER targets_count_insert ON targets;
DROP FUNCTION targets_count_update;
DROP FUNCTION targets_count_rows;
DELETE FROM row_counts WHERE counted = 'targets';
