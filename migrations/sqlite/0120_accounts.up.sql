-- Accounts, their sessions, recovery codes and API tokens, and the record of who did what.
-- Times (…_at) are microseconds since 1970, NULL = never. Other units are in the column's name.

CREATE TABLE users (
  seq                 INTEGER PRIMARY KEY AUTOINCREMENT,
  id                  TEXT    NOT NULL UNIQUE,
  username            TEXT    NOT NULL UNIQUE, -- in lower case; that of a deleted account is not given to another one
  role                TEXT    NOT NULL CHECK (role IN ('admin', 'editor', 'viewer')),
  disabled            INTEGER NOT NULL CHECK (disabled IN (0, 1)),
  password_hash       TEXT    NOT NULL, -- argon2id, '' = it cannot sign in by a password
  password_changed_at INTEGER,
  totp_secret         BLOB,             -- encrypted; NULL = no second factor
  totp_confirmed_at   INTEGER,          -- NULL = the secret is not in use yet
  totp_step           INTEGER NOT NULL CHECK (totp_step >= 0), -- of the last code that was used: no code is used twice
  oidc_issuer         TEXT    NOT NULL, -- '' = it was not made by single sign-on
  oidc_subject        TEXT    NOT NULL,
  created_at          INTEGER NOT NULL,
  updated_at          INTEGER NOT NULL,
  last_login_at       INTEGER,
  deleted_at          INTEGER           -- it can be restored for a day; NULL = not deleted
);

CREATE UNIQUE INDEX users_oidc ON users (oidc_issuer, oidc_subject) WHERE oidc_issuer <> '';
CREATE INDEX users_created     ON users (created_at, id) WHERE deleted_at IS NULL;

CREATE TABLE recovery_codes (
  user_seq  INTEGER NOT NULL REFERENCES users (seq) ON DELETE CASCADE,
  code_hash BLOB    NOT NULL, -- HMAC-SHA-256
  PRIMARY KEY (user_seq, code_hash)
) WITHOUT ROWID;

CREATE TABLE sessions (
  secret_hash  BLOB    NOT NULL PRIMARY KEY, -- SHA-256 of what the cookie holds
  id           TEXT    NOT NULL UNIQUE,
  user_seq     INTEGER NOT NULL REFERENCES users (seq) ON DELETE CASCADE,
  method       TEXT    NOT NULL CHECK (method IN ('password', 'oidc')),
  address      TEXT    NOT NULL, -- of the client when it signed in
  device       TEXT    NOT NULL, -- "Firefox on Linux", '' = unknown
  created_at   INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL, -- to the minute
  expires_at   INTEGER NOT NULL  -- however much it is used
) WITHOUT ROWID;

CREATE INDEX sessions_user    ON sessions (user_seq, created_at);
CREATE INDEX sessions_idle    ON sessions (last_seen_at);
CREATE INDEX sessions_expires ON sessions (expires_at);

CREATE TABLE tokens (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT    NOT NULL UNIQUE,
  user_seq     INTEGER NOT NULL REFERENCES users (seq) ON DELETE CASCADE,
  name         TEXT    NOT NULL,
  secret_hash  BLOB    NOT NULL UNIQUE, -- SHA-256
  scopes       TEXT    NOT NULL, -- a JSON array
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  last_used_at INTEGER            -- to the minute
);

CREATE INDEX tokens_user    ON tokens (user_seq, created_at, id);
CREATE INDEX tokens_expires ON tokens (expires_at) WHERE expires_at IS NOT NULL;

-- Entries are added and, when they are old enough, deleted. None is changed.
CREATE TABLE audit_entries (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  at           INTEGER NOT NULL,
  actor_id     TEXT    NOT NULL, -- of the account, '' = none. Accounts go, entries stay: no foreign key
  actor        TEXT    NOT NULL,
  via          TEXT    NOT NULL,
  credential   TEXT    NOT NULL, -- id of the session or token, '' = none
  address      TEXT    NOT NULL, -- of the client, '' = unknown
  request_id   TEXT    NOT NULL,
  action       TEXT    NOT NULL, -- target.edit
  subject_kind TEXT    NOT NULL, -- target, '' = none
  subject_id   TEXT    NOT NULL,
  subject_name TEXT    NOT NULL,
  before       TEXT    NOT NULL, -- a JSON object, '' = nothing
  after        TEXT    NOT NULL,
  attempts     INTEGER NOT NULL CHECK (attempts >= 1)
);

CREATE INDEX audit_entries_newest  ON audit_entries (at, seq);
CREATE INDEX audit_entries_actor   ON audit_entries (actor, at, seq);
CREATE INDEX audit_entries_action  ON audit_entries (action, at, seq);
CREATE INDEX audit_entries_subject ON audit_entries (subject_id, at, seq) WHERE subject_id <> '';
CREATE INDEX audit_entries_address ON audit_entries (address, at, seq);

CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON audit_entries
BEGIN
  SELECT RAISE(ABORT, 'audit entries are not changed');
END;
