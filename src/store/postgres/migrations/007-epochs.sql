-- The keys of epochs (see core/ports/epochs.ts). NULL: this one was destroyed, and all before it.
CREATE TABLE mayfly_store.epochs (
  epoch integer PRIMARY KEY,
  key bytea CHECK (octet_length(key) = 32)
);

-- Destroys the keys before an epoch. TRUNCATE gives the table another file and removes the one in which old versions of rows would remain.
-- Nobody waits for it: it gives way to whoever has the table, such as a dump, and answers false; only who needs a key meanwhile waits.
CREATE FUNCTION mayfly_store.destroy_epochs(before integer) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, mayfly_store, pg_temp AS $$
DECLARE kept epochs[];
BEGIN
  LOCK TABLE epochs IN ACCESS EXCLUSIVE MODE NOWAIT;
  IF NOT EXISTS (SELECT FROM epochs WHERE epoch < before AND key IS NOT NULL) THEN RETURN true; END IF;
  kept := ARRAY(SELECT e FROM epochs e WHERE epoch >= before);
  TRUNCATE epochs;
  INSERT INTO epochs SELECT * FROM unnest(kept);
  INSERT INTO epochs VALUES (before - 1, NULL);
  RETURN true;
EXCEPTION WHEN lock_not_available THEN
  RETURN false;
END $$;
