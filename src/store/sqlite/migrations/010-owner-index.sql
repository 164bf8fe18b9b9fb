-- Where the rows of each account are, up to merge_progress; later rows enter in sorted slices, as they enter the indexes of
-- ids (see index-merge.ts). Entries past the progress do no harm.
CREATE TABLE owner_index (
  owner INTEGER NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (owner, position)
) STRICT, WITHOUT ROWID;

INSERT INTO owner_index SELECT owner, position FROM records WHERE owner IS NOT NULL ORDER BY owner, position;

DROP INDEX records_by_owner;

-- A process of an earlier version, still running on this folder, would raise the progress without entering the owners. It
-- finds no table of the name that it knows, and stores nothing.
ALTER TABLE index_progress RENAME TO merge_progress;
