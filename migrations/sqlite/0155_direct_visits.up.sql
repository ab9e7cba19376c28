-- Direct visits are the visits by people that no host referred. They need no rows.
DELETE FROM short_link_referrers WHERE host = '';
