-- The description of the page: <meta name=description>, else that of OpenGraph.
ALTER TABLE links ADD COLUMN fetched_description TEXT NOT NULL DEFAULT '';
