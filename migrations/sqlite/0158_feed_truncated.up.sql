-- Whether a feed has more than was last read of it: it is longer than 15 MiB, or has more than 500 entries.
ALTER TABLE feeds ADD COLUMN truncated INTEGER NOT NULL DEFAULT 0 CHECK (truncated IN (0, 1));
