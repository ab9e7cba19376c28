DROP TABLE short_link_referrers;
DROP TABLE short_link_days;
DROP TABLE short_link_version;
DROP TABLE short_links;
