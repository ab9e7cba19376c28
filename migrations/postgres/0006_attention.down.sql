DROP INDEX links_expired_at;
DROP INDEX links_unwell;
CREATE INDEX links_changed ON links (health, health_changed_at) WHERE health <> 'ok';
