-- Store time (see time.ts): as one of the nodes last knew it.
CREATE TABLE store_time (
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
INSERT INTO store_time (only_row, seconds, used_until) VALUES (1, 0, 0);
