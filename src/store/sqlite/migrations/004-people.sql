-- Accounts for people: a language, passwords, log-ins of browsers, mailed tickets.
ALTER TABLE accounts ADD COLUMN locale TEXT;

-- Bit n stands for entry n of `tokenScopes`; what was made before there were scopes has them all.
ALTER TABLE tokens ADD COLUMN scopes INTEGER NOT NULL DEFAULT 7;

CREATE TABLE passwords (
  account_id INTEGER PRIMARY KEY REFERENCES accounts (id),
  salt BLOB NOT NULL,
  verifier BLOB NOT NULL,
  wrapped_data_key BLOB NOT NULL,
  set_at INTEGER NOT NULL
) STRICT;

CREATE TABLE sessions (
  session_id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  session_hash BLOB NOT NULL UNIQUE,
  wrapped_data_key BLOB NOT NULL,
  label TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX sessions_by_account ON sessions (account_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- One of a kind for a username: a later one replaces it. No account need exist.
CREATE TABLE tickets (
  kind TEXT NOT NULL CHECK (kind IN ('sign_up', 'reset')),
  username TEXT NOT NULL,
  ticket_hash BLOB NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (kind, username)
) STRICT, WITHOUT ROWID;

CREATE INDEX tickets_by_expiry ON tickets (expires_at);
