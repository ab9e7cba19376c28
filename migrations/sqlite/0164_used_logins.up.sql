-- The hashes of states of single sign-on that were used, so that none is used twice, on any instance.
CREATE TABLE used_logins (
  state_hash BLOB    NOT NULL PRIMARY KEY,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX used_logins_expiry ON used_logins (expires_at);
