-- Requests for a secret, and their answers: see core/ports/requests.ts. Nothing in them is under a root.
-- Rows may change their size: what a rebuilt page keeps of a neighbour opens only with that request's own link or key.
CREATE TABLE requests (
  request_id BLOB PRIMARY KEY,
  owner INTEGER,                               -- no reference: what finds a request also looks for its owner
  owner_hash BLOB NOT NULL,
  ask_hash BLOB NOT NULL,
  terms BLOB NOT NULL,
  places INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  until INTEGER NOT NULL,
  answer_ttl INTEGER NOT NULL,
  notify INTEGER NOT NULL,
  share_domain TEXT NOT NULL,
  is_ended INTEGER NOT NULL DEFAULT 0,         -- early; otherwise it ends at `until`
  updated_at INTEGER NOT NULL,
  answers_until INTEGER NOT NULL DEFAULT 0,    -- when the last of its answers expires
  noticed_at INTEGER NOT NULL DEFAULT 0,
  reports INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX requests_by_owner ON requests (owner) WHERE owner IS NOT NULL;
CREATE INDEX requests_by_end ON requests (max(until, answers_until));

CREATE TABLE answers (
  answer_id BLOB PRIMARY KEY,
  request_id BLOB NOT NULL REFERENCES requests (request_id) ON DELETE CASCADE,
  number INTEGER NOT NULL,                     -- 1, 2, 3 … within its request
  is_discarded INTEGER NOT NULL DEFAULT 0,
  box BLOB NOT NULL,
  UNIQUE (request_id, number)
) STRICT, WITHOUT ROWID;
