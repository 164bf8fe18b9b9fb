-- Codes mailed to the address of a secret's `verify`: see core/ports/codes.ts. Nothing in them is under a root.
CREATE TABLE mayfly_store.codes (
  secret_id bytea NOT NULL,
  look_tag bytea NOT NULL,
  at bigint NOT NULL,
  code_tag bytea NOT NULL,
  state text NOT NULL CHECK (state IN ('queued', 'accepted', 'refused', 'given_up', 'not_sent')),
  PRIMARY KEY (secret_id, look_tag, at)
) WITH (fillfactor = 70);
