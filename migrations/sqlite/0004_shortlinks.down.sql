DROP INDEX idempotency_keys_age;
CREATE INDEX idempotency_keys_created ON idempotency_keys (scope, created_at);
DROP TABLE cleanup_runs;
DROP TABLE cleanup_totals;
DROP TABLE short_link_referrers;
DROP TABLE short_link_days;
DROP TABLE short_links;
