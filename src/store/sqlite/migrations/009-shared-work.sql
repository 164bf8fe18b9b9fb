-- What several processes do between them, and each thing once.

-- Until when a domain's check belongs to whoever took it.
ALTER TABLE domains ADD COLUMN leased_until INTEGER NOT NULL DEFAULT 0;

-- Accounts that were deleted, and how far the end of their secrets has come: `upto` is a position, `burned` a count.
-- A row stays for a while after `finished_at`, so that all who share the work are answered the whole count.
CREATE TABLE deletions (
  account_id INTEGER PRIMARY KEY,
  upto INTEGER NOT NULL DEFAULT 0,
  burned INTEGER NOT NULL DEFAULT 0,
  finished_at INTEGER
) STRICT;

CREATE INDEX deletions_by_end ON deletions (finished_at);
