DROP INDEX deliveries_pending;
CREATE INDEX deliveries_pending ON deliveries (channel_seq, seq) WHERE status = 'pending';
