-- The keys of epochs (see core/ports/epochs.ts). NULL: this one was destroyed, and all before it.
CREATE TABLE epochs (epoch INTEGER PRIMARY KEY, key BLOB CHECK (length(key) = 32)) STRICT;
