-- Sessions of single sign-on are checked again at the identity provider, by one instance at a time.
ALTER TABLE sessions ADD COLUMN confirmed_at BIGINT CHECK (confirmed_at IS NULL OR method = 'oidc'); -- when the provider last confirmed the user; NULL = unknown
ALTER TABLE sessions ADD COLUMN retry_at BIGINT CHECK (retry_at IS NULL OR method = 'oidc'); -- when the next check may start; NULL = when it is due
ALTER TABLE sessions ADD COLUMN refresh_token BYTEA CHECK (refresh_token IS NULL OR method = 'oidc'); -- encrypted; NULL = the browser must return to the provider
ALTER TABLE sessions ADD COLUMN id_token BYTEA CHECK (id_token IS NULL OR method = 'oidc'); -- encrypted; NULL = unknown
