-- What several processes do between them, and each thing once.

-- Until when a domain's check belongs to whoever took it.
ALTER TABLE domains ADD COLUMN leased_until INTEGER NOT NULL DEFAULT 0;

-- Accounts that were deleted, and how far the end of their secrets has come: `upto` is a position, `burned` a count.
CREATE TABLE deletions (
  account_id INTEGER PRIMARY KEY,
  upto INTEGER NOT NULL DEFAULT 0,
  burned INTEGER NOT NULL DEFAULT 0,
  is_finished INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX deletions_unfinished ON deletions (account_id) WHERE is_finished = 0;
