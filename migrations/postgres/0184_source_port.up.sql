-- Of the URL; 0 = 80 or 443, the default ports.
ALTER TABLE sources ADD COLUMN port BIGINT NOT NULL DEFAULT 0 CHECK (port BETWEEN 0 AND 65535);
-- search_text ends with the canonical URL, which has no spaces.
UPDATE sources SET port = p.port FROM (
  SELECT seq, CAST(substring(search_text FROM ' ?https?://[^/? ]*:([0-9]{1,5})(?:[/?][^ ]*)?$') AS INTEGER) AS port FROM sources) AS p
WHERE p.seq = sources.seq AND p.port NOT IN (80, 443) AND p.port BETWEEN 1 AND 65535;
