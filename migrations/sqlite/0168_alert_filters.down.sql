DROP INDEX alerts_by_event;
DROP INDEX alerts_by_severity;
