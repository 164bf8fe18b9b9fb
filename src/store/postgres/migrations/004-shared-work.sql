-- Guesses at the passphrase of a secret: one row has all that still count, and each change gives it a new number (see attempts.ts).
CREATE TABLE mayfly_store.attempts (
  secret_id bytea PRIMARY KEY,
  last_number bigint NOT NULL,                 -- of its last change; only ever grows, also when the row was deleted meanwhile
  numbers bigint[] NOT NULL,                   -- the attempts in the window, oldest first; by place with the next two
  times bigint[] NOT NULL,
  clients bytea NOT NULL,                      -- 16 bytes each
  in_life integer NOT NULL,
  life_ends_at bigint NOT NULL,
  stale_at bigint NOT NULL                     -- when none of it counts any more, unless the secret lives longer by now
) WITH (fillfactor = 70);

CREATE INDEX attempts_by_staleness ON mayfly_store.attempts (stale_at);

-- Creations that may be repeated with the same answer: see core/ports/creations.ts. A row goes with its token.
CREATE TABLE mayfly_store.creations (
  creation_id bytea PRIMARY KEY,
  token_id bigint NOT NULL REFERENCES mayfly_store.tokens (token_id) ON DELETE CASCADE,
  seed bytea NOT NULL,                         -- under the root that it names, as a record's sealed bytes do
  body_mac bytea NOT NULL,
  done_at bigint,                              -- set by the statement that stores its record, while it is NULL and the seed the same
  mismatches integer NOT NULL DEFAULT 0,
  reserved_at bigint NOT NULL,
  ends_at bigint NOT NULL
) WITH (fillfactor = 70);

CREATE INDEX creations_by_token ON mayfly_store.creations (token_id);
CREATE INDEX creations_by_end ON mayfly_store.creations (ends_at);

CREATE TABLE mayfly_store.root_checks (kid integer PRIMARY KEY, check_value bytea NOT NULL);

-- No record is stored or re-wrapped under a root before this one. Whatever does either locks the row FOR SHARE, so that closing a root
-- waits for those that have not seen it.
CREATE TABLE mayfly_store.root_floor (only_row integer PRIMARY KEY CHECK (only_row = 1), kid integer NOT NULL);
INSERT INTO mayfly_store.root_floor VALUES (1, 0);

-- Until when records may be live under a root: an upper bound, raised by whole days before the first of them is stored.
CREATE TABLE mayfly_store.root_uses (kid integer PRIMARY KEY, until bigint NOT NULL);

-- Its row says that a node was told to make the key file.
CREATE TABLE mayfly_store.first_node (only_row integer PRIMARY KEY CHECK (only_row = 1), asked_at bigint NOT NULL);
