ALTER TABLE short_links RESET (fillfactor);
