-- Of the URL; 0 = 80 or 443, the default ports.
ALTER TABLE sources ADD COLUMN port INTEGER NOT NULL DEFAULT 0 CHECK (port BETWEEN 0 AND 65535);
-- search_text ends with the canonical URL, which has no spaces. A port after its host ends with the first character that is no digit.
UPDATE sources SET port = p.port FROM (
  SELECT seq, CAST(substr(rest, length(bare) + 2) AS INTEGER) AS port FROM (
    SELECT seq, bare, substr(url, instr(url, '://') + 3) AS rest FROM (
      SELECT seq, CASE WHEN instr(host, ':') > 0 THEN '[' || host || ']' ELSE host END AS bare,
        substr(search_text, length(rtrim(search_text, replace(search_text, ' ', ''))) + 1) AS url
      FROM sources)) WHERE substr(rest, 1, length(bare) + 1) = bare || ':') AS p
WHERE p.seq = sources.seq AND p.port NOT IN (80, 443) AND p.port BETWEEN 1 AND 65535;
