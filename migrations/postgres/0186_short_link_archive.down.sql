-- The older version keeps expired short links until its reaper deletes them.
INSERT INTO short_links (seq, short_key, long_url, canonical_url, title, search_text, max_visits, disabled, created_at, updated_at, version,
  expires_at, exhausted_at, deleted_at, visits, bots, last_visited_at, owner, private_to, direct, previews)
SELECT seq, short_key, long_url, canonical_url, title, search_text, max_visits, disabled, created_at, updated_at, version,
  expires_at, exhausted_at, deleted_at, visits, bots, last_visited_at, owner, private_to, direct, previews FROM archived_short_links;

INSERT INTO short_link_days (short_link_seq, bucket_start, bots, desktop, mobile, tablet, other, previews)
SELECT short_link_seq, bucket_start, bots, desktop, mobile, tablet, other, previews FROM archived_short_link_days;

INSERT INTO short_link_referrers (short_link_seq, host, visits) SELECT short_link_seq, host, visits FROM archived_short_link_referrers;

DROP TABLE archived_short_link_referrers;
DROP TABLE archived_short_link_days;
DROP TABLE archived_short_links;
