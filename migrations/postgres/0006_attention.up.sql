-- What needs attention on the overview: active links by health, the newest change first, and links that expired lately.
DROP INDEX links_changed;
CREATE INDEX links_unwell ON links (health, health_changed_at) WHERE expired_at IS NULL AND health <> 'ok';
CREATE INDEX links_expired_at ON links (expired_at) WHERE expired_at IS NOT NULL;
