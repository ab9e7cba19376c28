DROP TABLE status_page_targets;
DROP TABLE status_pages;
DROP TABLE outages;
DROP TABLE target_days;
DROP TABLE target_hours;
DROP TABLE check_results;
DROP TABLE target_schedule;
DROP TABLE targets;
DELETE FROM row_counts WHERE counted = 'targets';
