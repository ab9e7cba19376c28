-- Links that only their owner and admins see: a URL is unique in each scope. Tags count the links of each scope.
ALTER TABLE links ADD COLUMN private_to TEXT COLLATE "C" NOT NULL DEFAULT ''; -- '' = all accounts see it, else only its owner, which this is
ALTER TABLE links DROP CONSTRAINT links_canonical_url_key;
ALTER TABLE links ADD CONSTRAINT links_canonical_url_private_to_key UNIQUE (canonical_url, private_to);

-- Where a list is read far down, private_to is in the index, so that the rows that are passed over are not read.
DROP INDEX links_active;
CREATE INDEX links_active  ON links (seq) INCLUDE (private_to) WHERE expired_at IS NULL;
DROP INDEX links_expired;
CREATE INDEX links_expired ON links (seq) INCLUDE (private_to) WHERE expired_at IS NOT NULL;
CREATE INDEX links_private ON links (private_to, expired_at, health) WHERE private_to <> ''; -- totals are of all links, less those

-- What a tag is in each scope: a tag exists for an account if links that it sees have it.
CREATE TABLE tag_scopes (
  tag_seq      BIGINT NOT NULL REFERENCES tags (seq) ON DELETE CASCADE,
  private_to   TEXT COLLATE "C" NOT NULL, -- of the links
  links        BIGINT NOT NULL CHECK (links >= 0),                -- with this tag, expired ones too
  link_count   BIGINT NOT NULL CHECK (link_count BETWEEN 0 AND links), -- those that are active
  created_at   BIGINT NOT NULL, -- when the first of them got the tag
  last_used_at BIGINT NOT NULL,
  PRIMARY KEY (tag_seq, private_to)
);
INSERT INTO tag_scopes (tag_seq, private_to, links, link_count, created_at, last_used_at)
SELECT tags.seq, '', count(*), least(link_count, count(*)), created_at, last_used_at FROM tags JOIN link_tags ON tag_seq = tags.seq GROUP BY tags.seq;

-- Only the user who made a change can undo it. Only the user who started a refresh can see its progress. Admins can do both.
ALTER TABLE link_changes ADD COLUMN made_by TEXT COLLATE "C" NOT NULL DEFAULT 'system';
ALTER TABLE link_refreshes ADD COLUMN made_by TEXT COLLATE "C" NOT NULL DEFAULT 'system';
