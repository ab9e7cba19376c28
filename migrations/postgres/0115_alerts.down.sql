DROP TABLE deliveries;
DROP TABLE alert_notices;
DROP TABLE alert_members;
DROP TABLE alerts;
DROP TABLE maintenance;
DROP TABLE alert_rules;
DROP TABLE channels;
DROP TABLE events;
