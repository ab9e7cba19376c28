ALTER TABLE users DROP COLUMN refused_at;
