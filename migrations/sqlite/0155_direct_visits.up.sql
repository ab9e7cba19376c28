-- Visits by people without a referrer: most visits, which need no row of their own.
ALTER TABLE short_links ADD COLUMN direct INTEGER NOT NULL DEFAULT 0 CHECK (direct >= 0);
UPDATE short_links SET direct = r.visits FROM short_link_referrers AS r WHERE r.short_link_seq = short_links.seq AND r.host = '';
DELETE FROM short_link_referrers WHERE host = '';
