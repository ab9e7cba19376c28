-- When the identity provider refused the user of an account, who can do nothing since; NULL = not refused.
ALTER TABLE users ADD COLUMN refused_at INTEGER CHECK (refused_at IS NULL OR oidc_issuer <> '');
