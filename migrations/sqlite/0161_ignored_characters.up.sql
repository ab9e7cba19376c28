-- Names and searches ignore characters that people do not see or usually do not write: variation selectors, and the vowel
-- marks of Arabic and Hebrew (models.Ignored). Names and search texts with such characters get their new form. Tags
-- whose names become equal are merged into the first of them. A name of nothing else keeps its form.
CREATE TEMP TABLE bare_texts (
  kind TEXT NOT NULL,
  seq  INTEGER NOT NULL,
  bare TEXT NOT NULL,
  PRIMARY KEY (kind, seq)
) WITHOUT ROWID;

INSERT INTO bare_texts (kind, seq, bare)
SELECT kind, seq, trim(regexp_replace(bare, ' +', ' ')) FROM (
  SELECT kind, seq, folded, regexp_replace(folded,
        '[\x{34F}\x{591}-\x{5BD}\x{5BF}\x{5C1}\x{5C2}\x{5C4}\x{5C5}\x{5C7}\x{610}-\x{61A}\x{640}' ||
        '\x{64B}-\x{652}\x{656}-\x{65F}\x{670}\x{6D6}-\x{6DC}\x{6DF}-\x{6E4}\x{6E7}\x{6E8}\x{6EA}-\x{6ED}' ||
        '\x{898}-\x{89F}\x{8CA}-\x{8E1}\x{8E3}-\x{8FF}\x{115F}\x{1160}\x{17B4}\x{17B5}\x{180B}-\x{180D}' ||
        '\x{180F}\x{2065}\x{3164}\x{FB1E}\x{FE00}-\x{FE0F}\x{FFA0}\x{FFF0}-\x{FFF8}\x{10EFD}-\x{10EFF}' ||
        '\x{E0000}-\x{E0FFF}]',
        '') AS bare
  FROM (
    SELECT 'tag' AS kind, seq, folded_name AS folded FROM tags
    UNION ALL SELECT 'link', link_seq, title || char(10) || url || char(10) || tags FROM link_docs
    UNION ALL SELECT 'target', seq, search_text FROM targets
    UNION ALL SELECT 'short link', seq, search_text FROM short_links
    UNION ALL SELECT 'source', seq, search_text FROM sources) AS texts
  WHERE length(folded) <> octet_length(folded)) AS bares -- most texts are ASCII
WHERE bare <> folded;

UPDATE targets SET search_text = b.bare FROM bare_texts AS b WHERE b.kind = 'target' AND targets.seq = b.seq;
UPDATE short_links SET search_text = b.bare FROM bare_texts AS b WHERE b.kind = 'short link' AND short_links.seq = b.seq;
UPDATE sources SET search_text = b.bare FROM bare_texts AS b WHERE b.kind = 'source' AND sources.seq = b.seq;

-- models/links indexes these links again.
INSERT INTO link_reindex (link_seq)
SELECT links.seq FROM bare_texts AS b JOIN links ON links.seq = b.seq WHERE b.kind = 'link' ON CONFLICT DO NOTHING;

-- Tags with a new form, and those that have it already. new_seq is the tag that stays.
CREATE TEMP TABLE tag_forms (
  seq     INTEGER NOT NULL PRIMARY KEY,
  new_seq INTEGER NOT NULL,
  folded  TEXT NOT NULL
);

INSERT INTO tag_forms (seq, new_seq, folded)
SELECT seq, min(seq) OVER (PARTITION BY folded), folded FROM (
  SELECT seq, bare AS folded FROM bare_texts WHERE kind = 'tag' AND bare <> ''
  UNION ALL
  SELECT seq, folded_name FROM tags WHERE folded_name IN (SELECT bare FROM bare_texts WHERE kind = 'tag')) AS forms;

INSERT INTO link_tags (link_seq, tag_seq, position)
SELECT l.link_seq, f.new_seq, min(l.position) FROM tag_forms AS f JOIN link_tags AS l ON l.tag_seq = f.seq
WHERE f.seq <> f.new_seq GROUP BY l.link_seq, f.new_seq ON CONFLICT DO NOTHING;

DELETE FROM link_tags WHERE tag_seq IN (SELECT seq FROM tag_forms WHERE seq <> new_seq);

INSERT INTO tag_scopes (tag_seq, private_to, links, link_count, created_at, last_used_at)
SELECT n.tag_seq, n.private_to, n.links, n.active, s.created_at, s.last_used_at
FROM (
  SELECT t.tag_seq, l.private_to, count(*) AS links, count(*) FILTER (WHERE l.expired_at IS NULL) AS active
  FROM link_tags AS t JOIN links AS l ON l.seq = t.link_seq
  WHERE t.tag_seq IN (SELECT new_seq FROM tag_forms WHERE seq <> new_seq) GROUP BY t.tag_seq, l.private_to) AS n
JOIN (
  SELECT f.new_seq, s.private_to, min(s.created_at) AS created_at, max(s.last_used_at) AS last_used_at
  FROM tag_forms AS f JOIN tag_scopes AS s ON s.tag_seq = f.seq GROUP BY f.new_seq, s.private_to) AS s
ON s.new_seq = n.tag_seq AND s.private_to = n.private_to
WHERE true
ON CONFLICT (tag_seq, private_to) DO UPDATE SET links = excluded.links, link_count = excluded.link_count,
  created_at = excluded.created_at, last_used_at = excluded.last_used_at;

UPDATE tags SET last_used_at = m.last_used_at,
  link_count = (SELECT coalesce(sum(s.link_count), 0) FROM tag_scopes AS s WHERE s.tag_seq = m.new_seq)
FROM (
  SELECT f.new_seq, max(t.last_used_at) AS last_used_at FROM tag_forms AS f JOIN tags AS t ON t.seq = f.seq
  GROUP BY f.new_seq HAVING count(*) > 1) AS m
WHERE tags.seq = m.new_seq;

DELETE FROM tags WHERE seq IN (SELECT seq FROM tag_forms WHERE seq <> new_seq);
UPDATE tags SET folded_name = f.folded FROM tag_forms AS f WHERE tags.seq = f.seq;

DROP TABLE tag_forms;
DROP TABLE bare_texts;

-- The indexer indexes pages in these scripts again. Other pages get the new form when their text changes.
UPDATE crawled_pages SET unindexed = 1
WHERE text_version > 0 AND (language IN ('ar', 'fa', 'he', 'ur', 'yi')
  OR length(title) <> octet_length(title) AND regexp_like(title, '[\x{591}-\x{6FF}]'));
