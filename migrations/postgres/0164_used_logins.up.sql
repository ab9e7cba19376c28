-- The hashes of states of single sign-on that were used, so that none is used twice, on any instance.
CREATE TABLE used_logins (
  state_hash BYTEA   NOT NULL PRIMARY KEY,
  expires_at BIGINT  NOT NULL
);

CREATE INDEX used_logins_expiry ON used_logins (expires_at);
