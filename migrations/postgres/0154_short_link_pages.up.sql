-- Visits change no indexed column of a short link. With free space on its page, the row needs no new index entries.
ALTER TABLE short_links SET (fillfactor = 70);
