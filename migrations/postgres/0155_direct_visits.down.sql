INSERT INTO short_link_referrers (short_link_seq, host, visits) SELECT seq, '', direct FROM short_links WHERE direct > 0
ON CONFLICT (short_link_seq, host) DO UPDATE SET visits = short_link_referrers.visits + excluded.visits;
ALTER TABLE short_links DROP COLUMN direct;
