DROP TABLE status_page_targets;
DROP TABLE status_pages;
DROP TABLE outages;
DROP TABLE target_days;
DROP TABLE target_hours;
DROP TABLE check_results;
DROP TABLE targets;
