-- A move of this store into another, or of another into this one: see moving.ts. Without a row there was none.
CREATE TABLE mayfly_store.move (
  only_row integer PRIMARY KEY CHECK (only_row = 1),
  id bytea NOT NULL,
  phase text NOT NULL CHECK (phase IN ('copying', 'closed', 'handed_over', 'filling', 'open', 'restored')),
  run bigint NOT NULL,                         -- of the command; an earlier one than the latest changes nothing
  next_table text,                             -- of the page that is copied next; NULL when all are
  next_after text
);

-- What has changed since the move began and is not copied yet.
CREATE TABLE mayfly_store.move_changes (
  note bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  table_name text NOT NULL,
  row_key text NOT NULL
);

-- Where the store was when a node last opened it: a copy of it that was restored is somewhere else (see restores.ts).
CREATE TABLE mayfly_store.store_place (
  only_row integer PRIMARY KEY CHECK (only_row = 1),
  system_id text,                              -- NULL where the engine does not tell
  database_id bigint NOT NULL,
  table_id bigint NOT NULL,                    -- of this table
  timeline text                                -- changes with each promotion
);
