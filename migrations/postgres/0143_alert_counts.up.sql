-- Resolved alerts are counted and listed without reading other alerts.
CREATE INDEX alerts_ended ON alerts (created_at, id, private_to) WHERE fired_at IS NOT NULL AND resolved_at IS NOT NULL;
