-- What several processes do between them, and each thing once.

-- Until when a domain's check belongs to whoever took it.
ALTER TABLE domains ADD COLUMN leased_until INTEGER NOT NULL DEFAULT 0;
