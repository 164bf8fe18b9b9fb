-- One row is a secret and its receipt: one state, so they cannot disagree, and a claim is one UPDATE of one row.
--
-- A row keeps its size from insert to delete: erasing overwrites with zeros of the same length, and a time that is not
-- known yet holds another time of the same width. A row that keeps its size is overwritten in place; a row that grows or
-- shrinks makes SQLite rebuild its page, which leaves bytes of the neighbours behind that secure_delete does not reach.
CREATE TABLE records (
  position INTEGER PRIMARY KEY,                -- never used twice: the newest row is never deleted
  state TEXT NOT NULL CHECK (state GLOB '[wrb]'),               -- waiting, received, burned
  row_version INTEGER NOT NULL,
  owner INTEGER,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  receipt_expires_at INTEGER NOT NULL CHECK (receipt_expires_at > expires_at),
  ended_at INTEGER NOT NULL,                   -- expires_at, until it was received or burned
  viewed_at INTEGER NOT NULL,                  -- receipt_expires_at, until the creator looked
  sweep_at INTEGER NOT NULL,                   -- expires_at, then receipt_expires_at, then a later try to delete
  delivery TEXT NOT NULL CHECK (delivery GLOB '[-qarn]'), -- none, queued, accepted, refused, not sent
  delivery_at INTEGER NOT NULL,
  has_passphrase INTEGER NOT NULL,
  root_kid INTEGER NOT NULL,                   -- 0 when the sealed bytes name none
  secret_hint INTEGER NOT NULL,                -- 47 bits of the id, for the index; the row's id decides
  receipt_hint INTEGER NOT NULL,
  secret_id BLOB NOT NULL,
  receipt_id BLOB NOT NULL,
  share_domain TEXT NOT NULL,
  details_box BLOB,
  recent_box BLOB,
  creator_box BLOB NOT NULL,
  sealed_secret BLOB NOT NULL
) STRICT;

-- Where the rows up to index_progress are found by their ids. Later rows enter in sorted slices (see index-merge.ts).
CREATE TABLE secret_index (
  hint INTEGER NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (hint, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE receipt_index (
  hint INTEGER NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (hint, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE index_progress (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), upto INTEGER NOT NULL) STRICT;
INSERT INTO index_progress VALUES (1, 0);

CREATE INDEX records_by_sweep ON records (sweep_at);
CREATE INDEX records_by_owner ON records (owner) WHERE owner IS NOT NULL;

-- The highest store time ever used, so that a clock that is set back revives nothing.
CREATE TABLE store_time (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), seconds INTEGER NOT NULL) STRICT;
INSERT INTO store_time VALUES (1, 0);

-- Until when records may be live under a wrapping root: an upper bound, raised by whole days.
CREATE TABLE root_uses (kid INTEGER PRIMARY KEY, until INTEGER NOT NULL) STRICT;
