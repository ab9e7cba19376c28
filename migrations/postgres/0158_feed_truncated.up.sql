-- Whether a feed has more than was last read of it: it is longer than 15 MiB, or has more than 500 entries.
ALTER TABLE feeds ADD COLUMN truncated BOOLEAN NOT NULL DEFAULT false;
