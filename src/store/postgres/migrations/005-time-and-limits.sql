-- Store time (see time.ts): as one of the nodes last knew it.
CREATE TABLE mayfly_store.store_time (
  only_row integer PRIMARY KEY CHECK (only_row = 1),
  seconds bigint NOT NULL,
  used_until bigint NOT NULL,                  -- no decision was made later than this
  boot_id text,                                -- the start of that node's machine, and the time since then
  since_boot bigint NOT NULL DEFAULT 0,
  server_clock bigint NOT NULL DEFAULT 0,      -- what the server's clock said at `seconds`
  disputed_since bigint,                       -- the dispute with the server's clock that is under way
  disputed_ahead bigint,
  times_set bigint NOT NULL DEFAULT 0          -- how often an operator has set it
) WITH (fillfactor = 20);
INSERT INTO mayfly_store.store_time (only_row, seconds, used_until) VALUES (1, 0, 0);

-- Calls that all nodes count together (see limits.ts). What is lost with a crash or a failover is nothing but counts.
CREATE UNLOGGED TABLE mayfly_store.limits (
  client bytea PRIMARY KEY,                    -- a keyed hash of the limit and its client
  whole_at bigint NOT NULL                     -- when its allowance is whole again, in microseconds of the server's clock
) WITH (fillfactor = 50);

-- Requests in their order, each of `sizes[n]` counts at one time: by `modes[n]` counted if every one of them is allowed ('take'), only
-- looked at ('peek') or given back ('refund'). `places` says which of `clients` each count is of. The waits of all, in microseconds.
CREATE FUNCTION mayfly_store.count_calls(
  clients bytea[], modes text[], sizes int[], places int[], intervals bigint[], tolerances bigint[]
) RETURNS bigint[]
LANGUAGE plpgsql SET search_path = pg_catalog, mayfly_store, pg_temp AS $$
DECLARE
  waits bigint[] := '{}';
  whole bigint[];
  now_at bigint;
  upto int := 0;
  known bigint;
BEGIN
  INSERT INTO limits SELECT client, 0 FROM unnest(clients) AS asked (client) ORDER BY client ON CONFLICT DO NOTHING;
  PERFORM FROM limits WHERE client = ANY (clients) ORDER BY client FOR UPDATE;
  whole := ARRAY(
    SELECT coalesce(l.whole_at, 0) FROM unnest(clients) WITH ORDINALITY AS asked (client, place)
      LEFT JOIN limits l USING (client) ORDER BY place);
  now_at := floor(extract(epoch FROM clock_timestamp()) * 1000000);
  FOR request IN 1 .. cardinality(sizes) LOOP
    FOR n IN upto + 1 .. upto + sizes[request] LOOP
      -- Nothing is ever further ahead than this, unless the server's clock was set back.
      known := greatest(least(whole[places[n]], now_at + tolerances[n]), now_at);
      waits[n] := CASE modes[request] WHEN 'refund' THEN 0 ELSE greatest(0, known + intervals[n] - now_at - tolerances[n]) END;
    END LOOP;
    IF modes[request] <> 'peek' AND 0 = ALL (waits[upto + 1 : upto + sizes[request]]) THEN
      FOR n IN upto + 1 .. upto + sizes[request] LOOP
        known := greatest(least(whole[places[n]], now_at + tolerances[n]), now_at);
        whole[places[n]] := CASE modes[request] WHEN 'refund' THEN greatest(known - intervals[n], now_at) ELSE known + intervals[n] END;
      END LOOP;
    END IF;
    upto := upto + sizes[request];
  END LOOP;
  INSERT INTO limits
    SELECT client, whole[place] FROM unnest(clients) WITH ORDINALITY AS asked (client, place) ORDER BY client
    ON CONFLICT (client) DO UPDATE SET whole_at = EXCLUDED.whole_at WHERE limits.whole_at <> EXCLUDED.whole_at;
  RETURN waits;
END $$;
