ALTER TABLE link_postings RESET (toast_tuple_target);
