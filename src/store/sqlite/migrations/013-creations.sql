-- Creations that may be repeated with the same answer: see core/ports/creations.ts. A row goes with its token.
CREATE TABLE creations (
  creation_id BLOB PRIMARY KEY,
  token_id INTEGER NOT NULL REFERENCES tokens (token_id) ON DELETE CASCADE,
  seed BLOB NOT NULL,                          -- under the root that it names, as a record's sealed bytes do
  body_mac BLOB NOT NULL,
  is_done INTEGER NOT NULL DEFAULT 0,
  mismatches INTEGER NOT NULL DEFAULT 0,
  reserved_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX creations_by_token ON creations (token_id);
CREATE INDEX creations_by_end ON creations (ends_at);
