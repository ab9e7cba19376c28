DROP TABLE link_refresh_items;
DROP TABLE link_refreshes;
DROP TABLE link_changes;
DROP TABLE link_words;
DROP TABLE links_search;
DROP TABLE link_tags;
DROP TABLE tags;
DROP TABLE links;
