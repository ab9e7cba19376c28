-- After a deleted account can no longer be restored with its secrets, only the hash of its subject is kept, so that the
-- user of the identity provider stays refused; NULL = oidc_subject has it.
ALTER TABLE users ADD COLUMN oidc_subject_hash BYTEA;

DROP INDEX users_oidc;
CREATE UNIQUE INDEX users_oidc      ON users (oidc_issuer, oidc_subject) WHERE oidc_subject <> '';
CREATE UNIQUE INDEX users_oidc_hash ON users (oidc_issuer, oidc_subject_hash) WHERE oidc_subject_hash IS NOT NULL;
CREATE INDEX users_deleted          ON users (created_at, id) WHERE deleted_at IS NOT NULL;
