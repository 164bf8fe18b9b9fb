-- Share domains. A name may be registered by several accounts; the index holds it verified for one at most.
CREATE TABLE mayfly_store.domains (
  name text COLLATE "C" NOT NULL,
  account_id bigint NOT NULL REFERENCES mayfly_store.accounts (id) ON DELETE CASCADE,
  state text NOT NULL CHECK (state IN ('unverified', 'pending', 'verified', 'lost')),
  challenge text,                              -- NULL: the operator added it
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  checked_at bigint,
  finding text,
  brand text NOT NULL,                         -- JSON; a field that is missing inherits the site's
  leased_until bigint NOT NULL DEFAULT 0,      -- until then its check belongs to the node that took it
  PRIMARY KEY (name, account_id)
);

CREATE UNIQUE INDEX domains_by_verified_name ON mayfly_store.domains (name) WHERE state = 'verified';
CREATE INDEX domains_by_account ON mayfly_store.domains (account_id, name);
CREATE INDEX domains_by_check ON mayfly_store.domains (checked_at) WHERE challenge IS NOT NULL;

-- A domain has one at most; two may have the same.
CREATE TABLE mayfly_store.domain_logos (
  domain text COLLATE "C" NOT NULL,
  account_id bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  type text NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (domain, account_id),
  FOREIGN KEY (domain, account_id) REFERENCES mayfly_store.domains (name, account_id) ON DELETE CASCADE
);

CREATE INDEX domain_logos_by_name ON mayfly_store.domain_logos (name);

-- Counts under the lock of the account's row, so two registrations at once do not both take the last one (see 002-accounts.sql).
CREATE FUNCTION mayfly_store.add_domain(
  for_account bigint, of_name text, of_state text, of_challenge text, created bigint, plain_brand text, max_domains bigint
) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, mayfly_store, pg_temp AS $$
BEGIN
  PERFORM FROM accounts WHERE id = for_account FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN 'gone'; END IF;
  IF EXISTS (SELECT FROM domains WHERE name = of_name AND account_id = for_account) THEN RETURN 'exists'; END IF;
  IF EXISTS (SELECT FROM domains WHERE name = of_name AND state = 'verified') THEN RETURN 'taken'; END IF;
  IF (SELECT count(*) FROM domains WHERE account_id = for_account) >= max_domains THEN RETURN 'too_many'; END IF;
  INSERT INTO domains (name, account_id, state, challenge, created_at, updated_at, brand)
  VALUES (of_name, for_account, of_state, of_challenge, created, created, plain_brand) ON CONFLICT DO NOTHING;
  RETURN CASE WHEN FOUND THEN 'added' ELSE 'taken' END;
END $$;

CREATE FUNCTION mayfly_store.note_domain_check(
  for_account bigint, of_name text, new_state text, new_finding text, at bigint
) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, mayfly_store, pg_temp AS $$
BEGIN
  UPDATE domains
  SET updated_at = CASE WHEN state = new_state THEN updated_at ELSE at END, checked_at = at, state = new_state, finding = new_finding
  WHERE name = of_name AND account_id = for_account;
  RETURN CASE WHEN FOUND THEN 'noted' ELSE 'gone' END;
EXCEPTION WHEN unique_violation THEN
  RETURN 'taken';
END $$;
