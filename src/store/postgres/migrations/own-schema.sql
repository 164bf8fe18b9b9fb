-- Makes the schema with its count of migrations, and moves into it what an earlier version made in the first schema of its role's path.
-- Run while there is no count. Names of other schemas are looked up only by `to_regclass` and `current_schema`, and are then fixed.
--
-- In the old place a count is left that no version has: an earlier one that starts there refuses, where it would otherwise make an empty
-- store and answer that every secret is gone. It is left beside a new store as well, because an earlier version may be started by mistake.
DO $$
DECLARE
  earlier regclass;
  place regnamespace;
  own oid;
  tables name[] := '{
    store_time, fenced_store_time, records, fenced_records, looks, accounts, tokens, sessions, tickets, deletions, domains, domain_logos,
    attempts, creations, root_checks, root_floor, root_uses, first_node, limits, move, move_changes, store_place, migrations}';
  is_left boolean;
  left_for text := '';
  each record;
BEGIN
  SET LOCAL lock_timeout TO '2s';
  SET LOCAL search_path TO DEFAULT;
  earlier := pg_catalog.to_regclass('migrations');
  place := pg_catalog.to_regnamespace(pg_catalog.quote_ident(pg_catalog.current_schema()));
  SET LOCAL search_path TO pg_catalog, pg_temp;
  own := (SELECT oid FROM pg_roles WHERE rolname = current_user);

  -- Another program may have a table of that name.
  IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = earlier::oid AND attname = 'only_row') THEN
    earlier := NULL;
  END IF;
  -- To read what another role has made may run what it has made: a view, a policy, a trigger.
  IF EXISTS (SELECT FROM pg_class WHERE oid = earlier::oid AND relowner <> own) THEN
    RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = format('%s is another role''s', earlier);
  END IF;
  is_left := EXISTS (SELECT FROM pg_attribute WHERE attrelid = earlier::oid AND attname = 'moved_to');
  IF is_left THEN
    EXECUTE format('SELECT moved_to FROM %s', earlier) INTO left_for;
  ELSIF earlier IS NOT NULL THEN
    -- Another node that does the same is waited for, and has then left its count under this name.
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', earlier);
  END IF;
  IF to_regclass('mayfly_store.migrations') IS NOT NULL THEN RETURN; END IF;
  IF left_for = 'mayfly_store' THEN
    RAISE EXCEPTION USING ERRCODE = 'MF001', MESSAGE = format('%s says that the tables are in mayfly_store', earlier);
  END IF;

  IF to_regnamespace('mayfly_store') IS NULL THEN CREATE SCHEMA mayfly_store; END IF;
  IF earlier IS NULL OR is_left THEN
    CREATE TABLE mayfly_store.migrations (only_row int PRIMARY KEY CHECK (only_row = 1), done int NOT NULL);
    INSERT INTO mayfly_store.migrations VALUES (1, 0);
  ELSE
    SELECT relnamespace INTO place FROM pg_class WHERE oid = earlier::oid;
    -- The time first, as decisions do. What another role has put beside it stays where it is.
    FOR each IN
      SELECT oid::regclass AS name FROM pg_class
      WHERE relnamespace = place::oid AND relowner = own AND relkind = 'r' AND relname = ANY (tables)
      ORDER BY relname NOT IN ('store_time', 'fenced_store_time')
    LOOP
      EXECUTE format('ALTER TABLE %s SET SCHEMA mayfly_store', each.name);
    END LOOP;
    -- As a backup is that a superuser has restored for itself.
    IF EXISTS (SELECT FROM pg_class WHERE relnamespace = place::oid AND relname = ANY (tables)) THEN
      RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = format('Some tables in %s are another role''s', place);
    END IF;
    FOR each IN
      SELECT oid::regprocedure AS name FROM pg_proc
      WHERE pronamespace = place::oid AND proowner = own AND (proname LIKE 'note\_moved\_%' OR proname = ANY ('{
        lock_account, hand_ticket, replace_reset_tickets, use_ticket, redeem_sign_up, redeem_reset, change_password, add_domain,
        note_domain_check, count_calls}'::name[]))
    LOOP
      EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, mayfly_store, pg_temp', each.name);
      EXECUTE format('ALTER FUNCTION %s SET SCHEMA mayfly_store', each.name);
    END LOOP;
  END IF;

  IF to_regclass(format('%s.migrations', place)) IS NULL AND has_schema_privilege(place::oid, 'CREATE') THEN
    EXECUTE format('CREATE TABLE %s.migrations (only_row int PRIMARY KEY, done int NOT NULL, moved_to text NOT NULL)', place);
    EXECUTE format('INSERT INTO %s.migrations VALUES (1, 1000, ''mayfly_store'')', place);
  END IF;
EXCEPTION
  -- Another node was faster, or a statement under way took too long: the caller looks, and tries again.
  WHEN duplicate_schema OR duplicate_table OR duplicate_object OR unique_violation OR lock_not_available OR deadlock_detected THEN
    NULL;
END $$;
