-- URLs are compared with the hexadecimal digits of their escapes in upper case (RFC 3986, 6.2.2.1). Of rows that become equal,
-- one gets the new form, unless another row has it already. The others keep the old form.
CREATE TEMP TABLE upper_urls ON COMMIT DROP AS
SELECT old, (SELECT string_agg(CASE WHEN n = 1 THEN part
      WHEN part ~ '^[0-9A-Fa-f]{2}' THEN '%' || upper(left(part, 2)) || substr(part, 3) ELSE '%' || part END, '' ORDER BY n)
    FROM unnest(string_to_array(old, '%')) WITH ORDINALITY AS parts (part, n)) AS url
FROM (SELECT DISTINCT old FROM (SELECT canonical_url AS old FROM links UNION ALL SELECT canonical_url FROM targets
    UNION ALL SELECT canonical_url FROM short_links UNION ALL SELECT url FROM crawled_pages UNION ALL SELECT url FROM frontier
    UNION ALL SELECT linked_as FROM frontier UNION ALL SELECT url FROM discovered_links UNION ALL SELECT url FROM feeds) AS urls
  WHERE old ~ '%([a-f][0-9A-Fa-f]|[0-9A-F][a-f])') AS lower_urls;

CREATE UNIQUE INDEX upper_urls_old ON upper_urls (old);
ANALYZE upper_urls;

UPDATE links SET canonical_url = n.url
FROM (SELECT min(l.seq) AS seq, u.url, l.private_to FROM upper_urls AS u CROSS JOIN links AS l WHERE l.canonical_url = u.old GROUP BY u.url, l.private_to) AS n
WHERE links.seq = n.seq AND NOT EXISTS (SELECT 1 FROM links AS o WHERE o.canonical_url = n.url AND o.private_to = n.private_to);

UPDATE targets SET canonical_url = n.url
FROM (SELECT min(t.seq) AS seq, u.url, t.private_to FROM upper_urls AS u CROSS JOIN targets AS t WHERE t.canonical_url = u.old AND t.deleted_at IS NULL
  GROUP BY u.url, t.private_to) AS n
WHERE targets.seq = n.seq AND NOT EXISTS (SELECT 1 FROM targets AS o WHERE o.canonical_url = n.url AND o.private_to = n.private_to AND o.deleted_at IS NULL);

UPDATE targets SET canonical_url = (SELECT u.url FROM upper_urls AS u WHERE u.old = canonical_url)
WHERE deleted_at IS NOT NULL AND canonical_url IN (SELECT old FROM upper_urls);

UPDATE short_links SET canonical_url = (SELECT u.url FROM upper_urls AS u WHERE u.old = canonical_url)
WHERE canonical_url IN (SELECT old FROM upper_urls);

-- Archived copies follow their page.
CREATE TEMP TABLE moved_pages ON COMMIT DROP AS
SELECT min(p.seq) AS seq, p.source_seq, u.url, substr(sha256(convert_to(u.url, 'UTF8')), 1, 16) AS url_hash
FROM crawled_pages AS p CROSS JOIN upper_urls AS u WHERE u.old = p.url GROUP BY p.source_seq, u.url;

DELETE FROM moved_pages WHERE EXISTS (SELECT 1 FROM crawled_pages AS o WHERE o.source_seq = moved_pages.source_seq AND o.url_hash = moved_pages.url_hash);

UPDATE archived_pages SET url_hash = m.url_hash FROM moved_pages AS m CROSS JOIN crawled_pages AS p
WHERE p.seq = m.seq AND archived_pages.source_seq = p.source_seq AND archived_pages.url_hash = p.url_hash AND NOT EXISTS (
  SELECT 1 FROM archived_pages AS o WHERE o.hash = archived_pages.hash AND o.source_seq = p.source_seq AND o.url_hash = m.url_hash);

UPDATE crawled_pages SET url = m.url, url_hash = m.url_hash FROM moved_pages AS m WHERE crawled_pages.seq = m.seq;

UPDATE frontier SET url = n.url, url_hash = n.url_hash
FROM (SELECT min(f.seq) AS seq, f.crawl_seq, f.scope_seq, u.url, substr(sha256(convert_to(u.url, 'UTF8')), 1, 16) AS url_hash
  FROM frontier AS f CROSS JOIN upper_urls AS u WHERE u.old = f.url GROUP BY f.crawl_seq, f.scope_seq, u.url) AS n
WHERE frontier.seq = n.seq AND NOT EXISTS (
  SELECT 1 FROM frontier AS o WHERE o.crawl_seq = n.crawl_seq AND o.url_hash = n.url_hash AND o.scope_seq = n.scope_seq);

UPDATE frontier SET linked_as = (SELECT u.url FROM upper_urls AS u WHERE u.old = linked_as)
WHERE linked_as <> '' AND linked_as IN (SELECT old FROM upper_urls);

UPDATE discovered_links SET url = n.url, url_hash = n.url_hash
FROM (SELECT min(d.seq) AS seq, d.source_seq, u.url, substr(sha256(convert_to(u.url, 'UTF8')), 1, 16) AS url_hash
  FROM discovered_links AS d CROSS JOIN upper_urls AS u WHERE u.old = d.url GROUP BY d.source_seq, u.url) AS n
WHERE discovered_links.seq = n.seq AND NOT EXISTS (
  SELECT 1 FROM discovered_links AS o WHERE o.source_seq = n.source_seq AND o.url_hash = n.url_hash);

UPDATE feeds SET url = n.url, url_hash = n.url_hash
FROM (SELECT min(f.seq) AS seq, f.source_seq, u.url, substr(sha256(convert_to(u.url, 'UTF8')), 1, 16) AS url_hash
  FROM feeds AS f CROSS JOIN upper_urls AS u WHERE u.old = f.url GROUP BY f.source_seq, u.url) AS n
WHERE feeds.seq = n.seq AND NOT EXISTS (SELECT 1 FROM feeds AS o WHERE o.source_seq = n.source_seq AND o.url_hash = n.url_hash);

-- Pages were read by other rules: as a page instead of a redirect, and without frames. Their next request is not conditional.
UPDATE crawled_pages SET etag = '', last_modified = '' WHERE etag <> '' OR last_modified <> '';
