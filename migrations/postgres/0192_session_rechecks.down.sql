ALTER TABLE sessions DROP COLUMN id_token;
ALTER TABLE sessions DROP COLUMN refresh_token;
ALTER TABLE sessions DROP COLUMN retry_at;
ALTER TABLE sessions DROP COLUMN confirmed_at;
