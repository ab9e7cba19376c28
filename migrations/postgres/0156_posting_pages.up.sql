-- Buckets of posting lists of up to 8 KB stay in their row: nearly all. Reading a list from outside takes twice as long.
ALTER TABLE link_postings SET (toast_tuple_target = 8160);
