-- Bit 0: it has a passphrase. Bit n + 1: entry n of `noticeKinds`. A new column would let every older row grow when it is
-- next changed (see 001-records.sql), and this one has room.
ALTER TABLE records RENAME COLUMN has_passphrase TO marks;

-- Bit n stands for entry n of `noticeKinds`.
ALTER TABLE accounts ADD COLUMN notify INTEGER NOT NULL DEFAULT 0;

-- What became of a record's mail. `records.delivery` stays what it was at creation, or what an earlier version noted: it
-- holds where there is no row here, and a mail that is queued there is of a process that has ended.
CREATE TABLE deliveries (
  position INTEGER PRIMARY KEY,
  state TEXT NOT NULL CHECK (state GLOB '[qargn]'),  -- queued, accepted, refused, given up, not sent
  at INTEGER NOT NULL,
  stale_at INTEGER,
  note_box BLOB,
  address_box BLOB
) STRICT;

-- Notices that are still to be given out, of the record at that position.
CREATE TABLE notices (position INTEGER PRIMARY KEY, due_at INTEGER NOT NULL) STRICT;

CREATE INDEX notices_by_time ON notices (due_at, position);

CREATE TABLE domains (
  name TEXT NOT NULL,
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  state TEXT NOT NULL CHECK (state IN ('unverified', 'pending', 'verified', 'lost')),
  challenge TEXT,                              -- NULL: it stands by the operator's word
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  checked_at INTEGER,
  finding TEXT,
  brand TEXT NOT NULL,                         -- JSON; a field that is missing inherits the site's
  PRIMARY KEY (name, account_id)
) STRICT;

-- A name is verified for one account at a time.
CREATE UNIQUE INDEX domains_by_verified_name ON domains (name) WHERE state = 'verified';
CREATE INDEX domains_by_account ON domains (account_id, name);
CREATE INDEX domains_by_check ON domains (checked_at) WHERE challenge IS NOT NULL;

-- A domain has one at most; two may have the same.
CREATE TABLE domain_logos (
  domain TEXT NOT NULL,
  account_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (domain, account_id),
  FOREIGN KEY (domain, account_id) REFERENCES domains (name, account_id) ON DELETE CASCADE
) STRICT;

CREATE INDEX domain_logos_by_name ON domain_logos (name);

-- What the operator had given stands by the operator's word; when, nobody knows: not before its account.
INSERT INTO domains (name, account_id, state, challenge, created_at, updated_at, brand)
SELECT s.domain, a.id, 'verified', NULL, a.created_at, a.created_at, '{}'
FROM share_domains s JOIN accounts a ON a.id = s.account_id;

DROP TABLE share_domains;
