-- The creator's own label of the record at that position, sealed under its metadata key. A table of its own, so that the
-- record's row keeps its size (see 001-records.sql). A memo outlives the read of its secret: it goes with the receipt.
-- Boxes come in two lengths, so that most changes overwrite in place; a memo that was removed is zeros of that length.
CREATE TABLE memos (position INTEGER PRIMARY KEY, memo_box BLOB NOT NULL) STRICT;
