-- Guesses at passphrases. Numbers are never used twice, so that a late refund cannot give back another's attempt.
CREATE TABLE attempts (
  attempt INTEGER PRIMARY KEY AUTOINCREMENT,
  secret_id BLOB NOT NULL,
  client BLOB NOT NULL,
  at INTEGER NOT NULL,
  stale_at INTEGER NOT NULL
) STRICT;

CREATE INDEX attempts_by_secret ON attempts (secret_id, at);
CREATE INDEX attempts_by_staleness ON attempts (stale_at);

CREATE TABLE attempt_lives (
  secret_id BLOB PRIMARY KEY,
  in_life INTEGER NOT NULL,
  ends_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX attempt_lives_by_end ON attempt_lives (ends_at);
