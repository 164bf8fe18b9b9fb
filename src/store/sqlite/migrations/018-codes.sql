-- Codes mailed to the address of a secret's `verify`: see core/ports/codes.ts. Nothing in them is under a root. A row keeps its size, and
-- what a rebuilt page keeps of one opens nothing without the link and the opener's nonce.
CREATE TABLE codes (
  secret_id BLOB NOT NULL,
  look_tag BLOB NOT NULL,
  at INTEGER NOT NULL,
  code_tag BLOB NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'accepted', 'refused', 'given_up', 'not_sent')),
  PRIMARY KEY (secret_id, look_tag, at)
) STRICT, WITHOUT ROWID;
