-- Before, link previews were bots, and bots were visits.
UPDATE short_links SET visits = visits + bots + previews WHERE max_visits = 0 AND bots + previews > 0;
UPDATE short_links SET bots = bots + previews WHERE previews > 0;
UPDATE short_link_days SET bots = bots + previews WHERE previews > 0;
ALTER TABLE short_link_days DROP COLUMN previews;
ALTER TABLE short_links DROP COLUMN previews;
