DROP TABLE feed_entries;
DROP TABLE feeds;
