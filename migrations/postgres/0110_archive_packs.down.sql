-- Copies in packs of several bodies cannot be read by the version before: their bodies are as if lost, and their objects stay.
DROP INDEX archived_bodies_pack;
ALTER TABLE archived_bodies ADD COLUMN present BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE archived_bodies ADD COLUMN deleting BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE archived_bodies ADD COLUMN due_at BIGINT;
UPDATE archived_bodies SET present = true WHERE pack_seq IN (SELECT seq FROM archive_packs WHERE key LIKE '%.html.zst');
ALTER TABLE archived_bodies DROP COLUMN pack_seq;
ALTER TABLE archived_bodies DROP COLUMN start_bytes;
ALTER TABLE archived_bodies DROP COLUMN length_bytes;
ALTER TABLE archived_bodies RENAME TO archived_blobs;
CREATE INDEX archived_blobs_due ON archived_blobs (due_at) WHERE due_at IS NOT NULL;
DROP TABLE archive_packs;
