INSERT INTO short_link_referrers (short_link_seq, host, visits)
SELECT seq, '', direct FROM (
  SELECT l.seq, l.visits - l.bots - COALESCE((SELECT sum(r.visits) FROM short_link_referrers r WHERE r.short_link_seq = l.seq), 0) AS direct
  FROM short_links l
) AS d WHERE direct > 0;
