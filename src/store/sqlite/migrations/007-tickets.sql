-- Several tickets of a kind for a username live side by side, and each counts against the next ones for a day. Those that
-- are under way go on working.
ALTER TABLE tickets RENAME TO single_tickets;

CREATE TABLE tickets (
  ticket_hash BLOB PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('sign_up', 'reset')),
  username TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,                 -- 0: used, or voided by the use of another
  counts_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO tickets (ticket_hash, kind, username, created_at, expires_at, counts_until)
SELECT ticket_hash, kind, username, created_at, expires_at, max(expires_at, created_at + 86400) FROM single_tickets;

DROP TABLE single_tickets;

CREATE INDEX tickets_by_username ON tickets (kind, username);
CREATE INDEX tickets_by_end ON tickets (counts_until);
