-- Requests for a secret, and their answers: see core/ports/requests.ts. Nothing in them is under a root.
CREATE TABLE mayfly_store.requests (
  request_id bytea PRIMARY KEY,
  owner bigint,                                -- no reference: what finds a request also looks for its owner
  owner_hash bytea NOT NULL,
  ask_hash bytea NOT NULL,
  terms bytea NOT NULL,
  places integer NOT NULL,
  created_at bigint NOT NULL,
  until bigint NOT NULL,
  answer_ttl bigint NOT NULL,
  notify integer NOT NULL,
  share_domain text NOT NULL,
  is_ended integer NOT NULL DEFAULT 0,         -- early; otherwise it ends at `until`
  updated_at bigint NOT NULL,
  answers_until bigint NOT NULL DEFAULT 0,     -- when the last of its answers expires
  noticed_at bigint NOT NULL DEFAULT 0,
  reports bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70);

CREATE INDEX requests_by_owner ON mayfly_store.requests (owner) WHERE owner IS NOT NULL;
CREATE INDEX requests_by_end ON mayfly_store.requests (greatest(until, answers_until));

CREATE TABLE mayfly_store.answers (
  answer_id bytea PRIMARY KEY,
  request_id bytea NOT NULL REFERENCES mayfly_store.requests (request_id) ON DELETE CASCADE,
  number integer NOT NULL,                     -- 1, 2, 3 … within its request
  is_discarded integer NOT NULL DEFAULT 0,
  box bytea NOT NULL,
  UNIQUE (request_id, number)
);

-- The functions lock the owner's row and then the request's, and see all that was committed before; a single statement would count the
-- answers and places that were there when it began.

-- Whether the owner's open requests, without `besides`, may have so many places more. The owner's lock holds until the caller has them.
CREATE FUNCTION mayfly_store.judge_places(for_owner bigint, more integer, most integer, besides bytea, at bigint) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, mayfly_store, pg_temp AS $$
BEGIN
  IF for_owner IS NULL THEN RETURN 'stored'; END IF;
  PERFORM FROM accounts WHERE id = for_owner AND locked_at IS NULL FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN 'refused'; END IF;
  IF more + (
    SELECT coalesce(sum(places), 0) FROM requests
    WHERE owner = for_owner AND is_ended = 0 AND until > at AND request_id <> besides
  ) > most THEN RETURN 'too_many_places'; END IF;
  RETURN 'stored';
END $$;

-- Locks the request; NULL when it is unknown, no longer kept, or its owner is locked or gone.
CREATE FUNCTION mayfly_store.hold_request(for_request bytea, at bigint) RETURNS mayfly_store.requests
LANGUAGE plpgsql SET search_path = pg_catalog, mayfly_store, pg_temp AS $$
DECLARE held requests;
BEGIN
  SELECT * INTO held FROM requests WHERE request_id = for_request;
  IF held.owner IS NOT NULL THEN
    PERFORM FROM accounts WHERE id = held.owner AND locked_at IS NULL FOR SHARE;
    IF NOT FOUND THEN RETURN NULL; END IF;
  END IF;
  SELECT * INTO held FROM requests WHERE request_id = for_request AND greatest(until, answers_until) > at FOR UPDATE;
  RETURN held;
END $$;

-- Whether an answer may be stored, and as which; the request's lock holds until the caller has stored it.
CREATE FUNCTION mayfly_store.judge_answer(for_request bytea, id bytea, most integer, at bigint, OUT outcome text, OUT next integer)
LANGUAGE plpgsql SET search_path = pg_catalog, mayfly_store, pg_temp AS $$
DECLARE
  held requests := hold_request(for_request, at);
  taken integer;
BEGIN
  SELECT count(*) + 1, count(*) FILTER (WHERE is_discarded = 0) INTO next, taken FROM answers WHERE request_id = for_request;
  outcome := CASE
    WHEN held.request_id IS NULL THEN 'unknown'
    WHEN EXISTS (SELECT FROM answers WHERE answer_id = id AND request_id = for_request) THEN 'repeated'
    WHEN held.is_ended = 1 OR held.until <= at THEN 'ended'
    WHEN taken >= held.places OR next > most THEN 'full'
    ELSE 'stored' END;
END $$;

-- Closes a request, or gives it another end or another number of places; what is NULL stays as it was.
CREATE FUNCTION mayfly_store.change_request(
  for_request bytea, closes boolean, new_until bigint, new_places integer, most integer, at bigint
) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, mayfly_store, pg_temp AS $$
DECLARE
  fits text := judge_places((SELECT owner FROM requests WHERE request_id = for_request), new_places, most, for_request, at);
  held requests := hold_request(for_request, at);
BEGIN
  IF held.request_id IS NULL THEN RETURN 'unknown'; END IF;
  IF held.is_ended = 1 OR held.until <= at THEN RETURN CASE WHEN closes THEN 'changed' ELSE 'ended' END; END IF;
  IF new_places < (SELECT count(*) FROM answers WHERE request_id = for_request AND is_discarded = 0) THEN RETURN 'places_taken'; END IF;
  IF new_places > held.places AND fits <> 'stored' THEN RETURN fits; END IF;
  UPDATE requests SET updated_at = at, is_ended = CASE WHEN closes THEN 1 ELSE 0 END, until = coalesce(new_until, until),
    places = coalesce(new_places, places)
  WHERE request_id = for_request;
  RETURN 'changed';
END $$;
