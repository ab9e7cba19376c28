DROP INDEX users_deleted;
DROP INDEX users_oidc_hash;
DROP INDEX users_oidc;
UPDATE users SET oidc_issuer = '' WHERE oidc_subject = '';
CREATE UNIQUE INDEX users_oidc ON users (oidc_issuer, oidc_subject) WHERE oidc_issuer <> '';

ALTER TABLE users DROP COLUMN oidc_subject_hash;
