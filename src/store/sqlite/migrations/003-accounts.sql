CREATE TABLE accounts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  username TEXT NOT NULL UNIQUE,
  plan TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE tokens (
  token_id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  token_hash BLOB NOT NULL UNIQUE,
  name TEXT NOT NULL,
  wrapped_data_key BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER
) STRICT;

CREATE INDEX tokens_by_account ON tokens (account_id);

CREATE TABLE share_domains (
  domain TEXT PRIMARY KEY,
  account_id INTEGER NOT NULL REFERENCES accounts (id)
) STRICT, WITHOUT ROWID;

CREATE INDEX share_domains_by_account ON share_domains (account_id);

CREATE TABLE root_checks (kid INTEGER PRIMARY KEY, check_value BLOB NOT NULL) STRICT;
