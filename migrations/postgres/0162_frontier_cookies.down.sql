ALTER TABLE frontier DROP COLUMN cookies;
