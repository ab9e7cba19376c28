ALTER TABLE feeds DROP COLUMN truncated;
