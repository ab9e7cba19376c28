DROP TABLE audit_entries;
DROP TABLE tokens;
DROP TABLE used_logins;
DROP TABLE sessions;
DROP TABLE recovery_codes;
DROP TABLE users;
DROP FUNCTION audit_entries_stay;
