-- What needs attention on the overview: active links by health, the newest change first.
DROP INDEX links_changed;
CREATE INDEX links_unwell ON links (health, health_changed_at) WHERE expired_at IS NULL AND health <> 'ok';
