-- Private links become visible to all. Of those with one URL, the shared one stays, else the oldest.
CREATE TEMP TABLE doubles ON COMMIT DROP AS SELECT seq FROM links WHERE private_to <> '' AND EXISTS (
  SELECT 1 FROM links AS other WHERE other.canonical_url = links.canonical_url AND (other.private_to = '' OR other.seq < links.seq));
DELETE FROM links WHERE seq IN (SELECT seq FROM doubles);
UPDATE tags SET link_count = (SELECT count(*) FROM link_tags JOIN links ON links.seq = link_seq WHERE tag_seq = tags.seq AND expired_at IS NULL)
WHERE EXISTS (SELECT 1 FROM doubles);
DELETE FROM tags WHERE EXISTS (SELECT 1 FROM doubles) AND NOT EXISTS (SELECT 1 FROM link_tags WHERE tag_seq = tags.seq);
-- The entries of private links in the search index say so.
INSERT INTO link_reindex (link_seq) SELECT seq FROM links WHERE private_to <> '' ON CONFLICT DO NOTHING;

ALTER TABLE link_refreshes DROP COLUMN made_by;
ALTER TABLE link_changes DROP COLUMN made_by;
DROP TABLE tag_scopes;
DROP INDEX links_private;
DROP INDEX links_expired;
CREATE INDEX links_expired ON links (seq) WHERE expired_at IS NOT NULL;
DROP INDEX links_active;
CREATE INDEX links_active  ON links (seq) WHERE expired_at IS NULL;
ALTER TABLE links DROP CONSTRAINT links_canonical_url_private_to_key;
ALTER TABLE links ADD CONSTRAINT links_canonical_url_key UNIQUE (canonical_url);
ALTER TABLE links DROP COLUMN private_to;
