-- The name that recipients read instead of the account's address; NULL: none.
ALTER TABLE mayfly_store.accounts ADD COLUMN sender_name text;
