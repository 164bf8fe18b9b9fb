-- With the time: which start of the machine it is of, and how long after it. Within one start the time that has passed since
-- is known, whatever the wall clock says.
ALTER TABLE store_time ADD COLUMN boot_id TEXT;
ALTER TABLE store_time ADD COLUMN since_boot INTEGER NOT NULL DEFAULT 0;

-- The dispute with the wall clock that is under way; NULL for none.
ALTER TABLE store_time ADD COLUMN disputed_since INTEGER;
ALTER TABLE store_time ADD COLUMN disputed_ahead INTEGER;

-- How often an operator has set the time: what a process believed before that no longer counts.
ALTER TABLE store_time ADD COLUMN times_set INTEGER NOT NULL DEFAULT 0;
