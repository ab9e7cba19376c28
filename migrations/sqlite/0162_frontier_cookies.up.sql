-- The cookies that the redirects of an entry have set, for its next request; '' = none.
ALTER TABLE frontier ADD COLUMN cookies TEXT NOT NULL DEFAULT '';
