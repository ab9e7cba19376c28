-- Only lists by event and by severity have this condition. With the same condition as the smaller indexes, these would be used instead of
-- them, and the number of firing alerts would be read from all alerts.
DROP INDEX alerts_by_event;
DROP INDEX alerts_by_severity;
CREATE INDEX alerts_by_event    ON alerts (event, created_at, id, private_to) WHERE fired_at > 0;
CREATE INDEX alerts_by_severity ON alerts (severity, created_at, id, private_to) WHERE fired_at > 0;
