-- What needs attention on `/`: open alerts by severity, and messages that were given up by channel.
CREATE INDEX alerts_severity   ON alerts (severity, created_at, id) WHERE fired_at IS NOT NULL AND resolved_at IS NULL AND acknowledged_at IS NULL;
CREATE INDEX deliveries_failed ON deliveries (channel_seq, created_at) WHERE status = 'failed';
