DROP TABLE archived_short_link_referrers;
DROP TABLE archived_short_link_days;
DROP TABLE archived_short_links;
DROP TABLE short_link_referrers;
DROP TABLE short_link_days;
DROP TABLE short_link_version;
DROP TABLE short_links;
