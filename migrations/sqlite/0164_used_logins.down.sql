DROP TABLE used_logins;
