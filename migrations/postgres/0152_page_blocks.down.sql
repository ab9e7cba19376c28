UPDATE page_index SET words = ts_delete(words, chr(57347) || 'b' || (page_seq >> 12));
