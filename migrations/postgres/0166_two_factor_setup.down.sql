ALTER TABLE users DROP COLUMN totp_prepared_at;
