-- The next message of a channel is found without reading the others: first those that were not refused, then the one that is due first.
DROP INDEX deliveries_pending;
CREATE INDEX deliveries_pending ON deliveries (channel_seq, next_at, seq) WHERE status = 'pending';
