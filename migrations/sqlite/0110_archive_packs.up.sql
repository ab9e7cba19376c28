-- The archive stores many bodies in one object, a pack. Times (…_at) are microseconds since 1970, NULL = never.
-- Other units are in the column's name.

-- Objects of the archive. A row is written before its object is stored, and deleted after its object is.
CREATE TABLE archive_packs (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  key        TEXT    NOT NULL UNIQUE, -- name of the object
  size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0), -- of the object; 0 = it is not known
  deleting   INTEGER NOT NULL CHECK (deleting IN (0, 1)), -- its object may be deleted any moment: it gets no bodies
  due_at     INTEGER -- when the archiver deletes it, or moves its bodies to another; NULL = enough of it is used
);

CREATE INDEX archive_packs_due ON archive_packs (due_at) WHERE due_at IS NOT NULL;

-- Each body that was stored so far is a pack of its own.
INSERT INTO archive_packs (key, size_bytes, deleting, due_at)
SELECT substr(lower(hex(b.hash)), 1, 2) || '/' || lower(hex(b.hash)) || '.html.zst', 0, b.deleting,
  CASE WHEN b.present AND NOT b.deleting AND EXISTS (SELECT 1 FROM archived_pages AS a WHERE a.hash = b.hash) THEN NULL ELSE coalesce(b.due_at, 0) END
FROM archived_blobs AS b;

-- Bodies, which the archive has once each, and which a page names.
DELETE FROM archived_blobs WHERE NOT EXISTS (SELECT 1 FROM archived_pages AS a WHERE a.hash = archived_blobs.hash);
DROP INDEX archived_blobs_due;
ALTER TABLE archived_blobs RENAME TO archived_bodies;
ALTER TABLE archived_bodies ADD COLUMN pack_seq INTEGER REFERENCES archive_packs (seq); -- NULL = it was found lost
ALTER TABLE archived_bodies ADD COLUMN start_bytes INTEGER NOT NULL DEFAULT 0 CHECK (start_bytes >= 0); -- in the object
ALTER TABLE archived_bodies ADD COLUMN length_bytes INTEGER NOT NULL DEFAULT 0 CHECK (length_bytes >= 0); -- compressed; 0 = to the end of the object
UPDATE archived_bodies SET pack_seq = (SELECT p.seq FROM archive_packs AS p WHERE p.key = substr(lower(hex(archived_bodies.hash)), 1, 2) || '/' || lower(hex(archived_bodies.hash)) || '.html.zst')
WHERE present AND NOT deleting;
ALTER TABLE archived_bodies DROP COLUMN present;
ALTER TABLE archived_bodies DROP COLUMN deleting;
ALTER TABLE archived_bodies DROP COLUMN due_at;

CREATE INDEX archived_bodies_pack ON archived_bodies (pack_seq, length_bytes);
