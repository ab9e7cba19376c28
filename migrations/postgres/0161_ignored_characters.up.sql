-- Names and searches ignore characters that people do not see or usually do not write: variation selectors, and the vowel
-- marks of Arabic and Hebrew (models.Ignored). Names and search texts with such characters get their new form. Tags
-- whose names become equal are merged into the first of them. A name of nothing else keeps its form.
CREATE TEMP TABLE bare_texts (
  kind TEXT NOT NULL,
  seq  BIGINT NOT NULL,
  bare TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (kind, seq)
) ON COMMIT DROP;

INSERT INTO bare_texts (kind, seq, bare)
SELECT kind, seq, trim(regexp_replace(bare, ' +', ' ', 'g')) FROM (
  SELECT kind, seq, folded, regexp_replace(folded,
        '[\u034F\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u0610-\u061A\u0640\u064B-\u0652' ||
        '\u0656-\u065F\u0670\u06D6-\u06DC\u06DF-\u06E4\u06E7\u06E8\u06EA-\u06ED\u0898-\u089F\u08CA-\u08E1' ||
        '\u08E3-\u08FF\u115F\u1160\u17B4\u17B5\u180B-\u180D\u180F\u2065\u3164\uFB1E\uFE00-\uFE0F\uFFA0' ||
        '\uFFF0-\uFFF8\U00010EFD-\U00010EFF\U000E0000-\U000E0FFF]',
        '', 'g') AS bare
  FROM (
    SELECT 'tag' AS kind, seq, folded_name AS folded FROM tags
    UNION ALL SELECT 'link', link_seq, title || chr(10) || url || chr(10) || tags FROM link_docs
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
  seq     BIGINT NOT NULL PRIMARY KEY,
  new_seq BIGINT NOT NULL,
  folded  TEXT COLLATE "C" NOT NULL
) ON COMMIT DROP;

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

-- The indexer indexes pages in these scripts again. Other pages get the new form when their text changes.
UPDATE crawled_pages SET unindexed = true
WHERE text_version > 0 AND (language IN ('ar', 'fa', 'he', 'ur', 'yi')
  OR length(title) <> octet_length(title) AND title ~ '[\u0591-\u06FF]');
