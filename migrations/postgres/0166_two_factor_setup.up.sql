-- When the second-factor key of an account was generated; NULL = unknown. One that is not confirmed in time has expired.
ALTER TABLE users ADD COLUMN totp_prepared_at BIGINT;
