-- Accounts, their sessions, recovery codes and API tokens, and the audit log.
-- Times (…_at) are microseconds since 1970, NULL = never. Other units are in the column's name.

-- Accounts. The rows of deleted ones remain, so that no other account gets their username and items.
CREATE TABLE users (
  seq                 INTEGER PRIMARY KEY AUTOINCREMENT,
  id                  TEXT    NOT NULL UNIQUE,
  username            TEXT    NOT NULL UNIQUE, -- in lower case
  role                TEXT    NOT NULL CHECK (role IN ('admin', 'editor', 'viewer')),
  disabled            INTEGER NOT NULL CHECK (disabled IN (0, 1)),
  password_hash       TEXT    NOT NULL, -- argon2id; '' = it has no password
  password_changed_at INTEGER,
  totp_secret         BLOB, -- encrypted; NULL = no second factor
  totp_confirmed_at   INTEGER, -- NULL = the secret is not used yet
  totp_step           INTEGER NOT NULL CHECK (totp_step >= 0), -- of the last code, so that no code is used twice
  oidc_issuer         TEXT    NOT NULL, -- '' = it has no single sign-on
  oidc_subject        TEXT    NOT NULL,
  created_at          INTEGER NOT NULL,
  updated_at          INTEGER NOT NULL,
  last_login_at       INTEGER,
  deleted_at          INTEGER, -- NULL = not deleted; it can be restored for a day
  -- Of an account that was deleted more than a day ago, only the hash of the subject remains, so that the user of the
  -- identity provider stays refused; NULL = oidc_subject has it.
  oidc_subject_hash   BLOB,
  totp_prepared_at    INTEGER, -- when totp_secret was generated; it expires if it is not confirmed; NULL = unknown
  -- When the identity provider refused the user, NULL = not refused.
  refused_at          INTEGER CHECK (refused_at IS NULL OR oidc_issuer <> '')
);

CREATE INDEX users_created ON users (created_at, id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX users_oidc ON users (oidc_issuer, oidc_subject) WHERE oidc_subject <> '';
CREATE UNIQUE INDEX users_oidc_hash ON users (oidc_issuer, oidc_subject_hash) WHERE oidc_subject_hash IS NOT NULL;
CREATE INDEX users_deleted ON users (created_at, id) WHERE deleted_at IS NOT NULL;

-- Recovery codes that were not used yet.
CREATE TABLE recovery_codes (
  user_seq  INTEGER NOT NULL REFERENCES users (seq) ON DELETE CASCADE,
  code_hash BLOB    NOT NULL, -- HMAC-SHA-256
  PRIMARY KEY (user_seq, code_hash)
) WITHOUT ROWID;

-- Sessions of browsers. Those of single sign-on are checked again at the identity provider.
CREATE TABLE sessions (
  secret_hash   BLOB    NOT NULL PRIMARY KEY, -- SHA-256 of the cookie's secret
  id            TEXT    NOT NULL UNIQUE,
  user_seq      INTEGER NOT NULL REFERENCES users (seq) ON DELETE CASCADE,
  method        TEXT    NOT NULL CHECK (method IN ('password', 'oidc')),
  address       TEXT    NOT NULL, -- of the client at login
  device        TEXT    NOT NULL, -- "Firefox on Linux", '' = unknown
  created_at    INTEGER NOT NULL,
  last_seen_at  INTEGER NOT NULL, -- to the minute
  expires_at    INTEGER NOT NULL, -- regardless of its use
  confirmed_at  INTEGER CHECK (confirmed_at IS NULL OR method = 'oidc'), -- last confirmation by the provider
  retry_at      INTEGER CHECK (retry_at IS NULL OR method = 'oidc'), -- when the next check may start; NULL = when due
  -- Encrypted, NULL = the browser does the check.
  refresh_token BLOB    CHECK (refresh_token IS NULL OR method = 'oidc'),
  id_token      BLOB    CHECK (id_token IS NULL OR method = 'oidc') -- encrypted; NULL = unknown
) WITHOUT ROWID;

CREATE INDEX sessions_user ON sessions (user_seq, created_at);
CREATE INDEX sessions_idle ON sessions (last_seen_at);
CREATE INDEX sessions_expires ON sessions (expires_at);

-- States of single sign-on that were used, so that none is used twice, on any instance.
CREATE TABLE used_logins (
  state_hash BLOB    NOT NULL PRIMARY KEY,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX used_logins_expiry ON used_logins (expires_at);

-- API tokens.
CREATE TABLE tokens (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT    NOT NULL UNIQUE,
  user_seq     INTEGER NOT NULL REFERENCES users (seq) ON DELETE CASCADE,
  name         TEXT    NOT NULL,
  secret_hash  BLOB    NOT NULL UNIQUE, -- SHA-256
  scopes       TEXT    NOT NULL, -- a JSON array
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  last_used_at INTEGER -- to the minute
);

CREATE INDEX tokens_user ON tokens (user_seq, created_at, id);
CREATE INDEX tokens_expires ON tokens (expires_at) WHERE expires_at IS NOT NULL;

-- The audit log. Entries are added and, when they are old enough, deleted. A trigger prevents changes.
CREATE TABLE audit_entries (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  at           INTEGER NOT NULL,
  actor_id     TEXT    NOT NULL, -- of the account; '' = none. No foreign key: entries remain without it
  actor        TEXT    NOT NULL,
  via          TEXT    NOT NULL, -- session, token, jwt, password, proxy or cli; '' = sign-in is off
  credential   TEXT    NOT NULL, -- id of the session or token, '' = none
  address      TEXT    NOT NULL, -- of the client, '' = unknown
  request_id   TEXT    NOT NULL,
  action       TEXT    NOT NULL, -- such as target.edit
  subject_kind TEXT    NOT NULL, -- such as target, '' = none
  subject_id   TEXT    NOT NULL,
  subject_name TEXT    NOT NULL,
  before       TEXT    NOT NULL, -- a JSON object, '' = nothing
  after        TEXT    NOT NULL,
  attempts     INTEGER NOT NULL CHECK (attempts >= 1) -- of failures that are counted together; else 1
);

CREATE INDEX audit_entries_newest ON audit_entries (at, seq);
CREATE INDEX audit_entries_actor ON audit_entries (actor, at, seq);
CREATE INDEX audit_entries_action ON audit_entries (action, at, seq);
CREATE INDEX audit_entries_subject ON audit_entries (subject_id, at, seq) WHERE subject_id <> '';
CREATE INDEX audit_entries_address ON audit_entries (address, at, seq);
CREATE INDEX audit_entries_actor_action ON audit_entries (actor, action, at, seq);

CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON audit_entries
BEGIN
  SELECT RAISE(ABORT, 'audit entries are not changed');
END;
