-- A page of the search index also has its block of 4,096 pages as a word, so that a search can read the newest blocks first.
UPDATE page_index SET words = words || array_to_tsvector(ARRAY[chr(57347) || 'b' || (page_seq >> 12)]);
