-- Since when the operator has locked the account, and when one of its tokens or sessions was last used. It outlives those.
ALTER TABLE accounts ADD COLUMN locked_at INTEGER;
ALTER TABLE accounts ADD COLUMN last_used_at INTEGER;

UPDATE accounts SET last_used_at = (
  SELECT max(last_used_at) FROM (
    SELECT account_id, last_used_at FROM tokens UNION ALL SELECT account_id, last_used_at FROM sessions
  ) WHERE account_id = accounts.id
);
