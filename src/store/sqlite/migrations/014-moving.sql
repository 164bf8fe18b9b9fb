-- A move of this store into another, or of another into this one: see moving.ts. Without a row there was none.
CREATE TABLE move (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  id BLOB NOT NULL,
  phase TEXT NOT NULL CHECK (phase IN ('copying', 'closed', 'handed_over', 'filling', 'open')),
  run INTEGER NOT NULL,                        -- of the command; an earlier one than the latest changes nothing
  next_table TEXT,                             -- of the page that is copied next; NULL when all are
  next_after TEXT
) STRICT;

-- What has changed since the move began and is not copied yet.
CREATE TABLE move_changes (note INTEGER PRIMARY KEY AUTOINCREMENT, table_name TEXT NOT NULL, row_key TEXT NOT NULL) STRICT;
