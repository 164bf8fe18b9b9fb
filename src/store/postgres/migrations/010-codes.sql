-- Codes mailed to the address of a secret's `verify`: see core/ports/codes.ts. Nothing in them is under a root.
CREATE TABLE mayfly_store.codes (
  secret_id bytea NOT NULL,
  look_tag bytea NOT NULL,
  at bigint NOT NULL,
  code_tag bytea NOT NULL,
  state text NOT NULL CHECK (state IN ('queued', 'accepted', 'refused', 'given_up', 'not_sent')),
  PRIMARY KEY (secret_id, look_tag, at)
) WITH (fillfactor = 70);

-- Also for nodes of the version before, which delete records and know no codes. Not while a move fills the store (see fence.ts): it deletes and
-- inserts records that changed.
CREATE FUNCTION mayfly_store.forget_codes() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, mayfly_store, pg_temp AS $$
BEGIN
  DELETE FROM codes WHERE TG_TABLE_NAME = 'records' AND secret_id = ANY (ARRAY(SELECT secret_id FROM gone));
  RETURN NULL;
END $$;
CREATE TRIGGER forget_codes AFTER DELETE ON mayfly_store.records REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION mayfly_store.forget_codes();
