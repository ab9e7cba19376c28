DROP INDEX alerts_by_event;
DROP INDEX alerts_by_severity;
CREATE INDEX alerts_by_event    ON alerts (event, created_at, id, private_to) WHERE fired_at IS NOT NULL;
CREATE INDEX alerts_by_severity ON alerts (severity, created_at, id, private_to) WHERE fired_at IS NOT NULL;
