-- No record is stored under a root before this one (see roots.ts).
CREATE TABLE root_floor (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), kid INTEGER NOT NULL) STRICT;
INSERT INTO root_floor VALUES (1, 0);
