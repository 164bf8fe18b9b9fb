-- The name that recipients read instead of the account's address; NULL: none.
ALTER TABLE accounts ADD COLUMN sender_name TEXT;
