-- Requests by bots, and previews (HEAD requests, prefetches and link previews), are no visits.
-- Short links with a visit limit keep their number of visits, so that none can be used again.
ALTER TABLE short_links ADD COLUMN previews INTEGER NOT NULL DEFAULT 0 CHECK (previews >= 0);
ALTER TABLE short_link_days ADD COLUMN previews INTEGER NOT NULL DEFAULT 0 CHECK (previews >= 0);
UPDATE short_links SET visits = max(visits - bots, 0) WHERE bots > 0 AND max_visits = 0;
