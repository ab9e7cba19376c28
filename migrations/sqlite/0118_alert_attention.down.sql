DROP INDEX deliveries_failed;
DROP INDEX alerts_severity;
