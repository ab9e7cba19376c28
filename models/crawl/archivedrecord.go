package crawl

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// NewCopy is a copy of a page whose body is in the archive.
type NewCopy struct {
	Source int64
	URL    string // of the page, as in its row
	Hash   BodyHash
	Bytes  int
	At     models.Time // when it was fetched
}

// StoredPack is a reserved pack whose object has been stored.
type StoredPack struct {
	Seq    int64 // as ReservePack returned it
	Bodies []PackedBody
}

// PackedBody is the location of a body in a pack.
type PackedBody struct {
	Hash          BodyHash
	Start, Length int64 // in bytes
}

// lockArchive is held by transactions that change which bodies have records, and where they are.
const lockArchive models.LockKey = 7_110_913_005

// unusedPackAge is how long a pack without recorded bodies is kept. Storing a pack and recording its bodies takes minutes at
// most.
const unusedPackAge = time.Hour

// ReservePack reserves a pack of this size before its object is stored. The key must be unique. The pack is deleted later
// unless a body is recorded in it.
func (s *Store) ReservePack(ctx context.Context, key string, bytes int) (seq int64, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		return tx.Raw("INSERT INTO archive_packs (key, size_bytes, deleting, due_at) VALUES (?, ?, false, ?) RETURNING seq", key, bytes, s.clock.Now().Add(unusedPackAge)).Scan(&seq).Error
	})
	if err != nil {
		return 0, fmt.Errorf("reserve pack: %w", err)
	}
	return seq, nil
}

// KeepCopies is the number of copies kept per page: the most recently fetched ones.
const KeepCopies = 20

// RecordCopies records a pack, and copies whose bodies are in it or already in the archive. It writes each table with one
// statement. A body that was already in the archive stays where it was. lost are the bodies that the archive does not have;
// their copies are not recorded. The zero pack has no bodies.
func (s *Store) RecordCopies(ctx context.Context, pack StoredPack, copies ...NewCopy) (lost []BodyHash, err error) {
	type key struct {
		page pageKey
		hash BodyHash
	}
	latest := make(map[key]NewCopy, len(copies))
	for _, c := range copies {
		k := key{pageKey{c.Source, hashOf(c.URL)}, c.Hash}
		if before, ok := latest[k]; !ok || c.At.After(before.At.Time) {
			latest[k] = c
		}
	}
	rows := models.NewRows("source_seq bigint, url_hash bytes, hash bytes, size_bytes bigint, at bigint")
	for k, c := range latest {
		rows.Add(c.Source, k.page.hash[:], k.hash[:], c.Bytes, c.At)
	}
	var recorded [][]byte
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		recorded = nil
		if err := s.db.OneAtATime(tx, lockArchive); err != nil {
			return err
		}
		if err := s.recordPack(tx, pack); err != nil {
			return err
		}
		err := rows.Raw(tx, `INSERT INTO archived_pages (source_seq, url_hash, hash, size_bytes, created_at, fetched_at)
			SELECT r.source_seq, r.url_hash, r.hash, r.size_bytes, r.at, r.at FROM {rows} AS r CROSS JOIN archived_bodies AS b WHERE b.hash = r.hash AND b.pack_seq IS NOT NULL
			ON CONFLICT (hash, source_seq, url_hash) DO UPDATE SET
				fetched_at = CASE WHEN excluded.fetched_at > archived_pages.fetched_at THEN excluded.fetched_at ELSE archived_pages.fetched_at END
			RETURNING hash`).Scan(&recorded).Error
		if err != nil {
			return err
		}
		// Each pass deletes one copy of each page that has too many. Usually none has.
		for n := int64(1); n > 0 && err == nil; {
			n, err = s.deleteCopiesWhere(tx, rows, `a.seq IN (SELECT (SELECT o.seq FROM archived_pages AS o WHERE o.source_seq = r.source_seq AND o.url_hash = r.url_hash
				ORDER BY o.fetched_at DESC, o.seq DESC LIMIT 1 OFFSET ?) FROM {rows} AS r)`, KeepCopies)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("record archived copies: %w", err)
	}
	named := make(map[BodyHash]bool, len(recorded))
	for _, h := range recorded {
		named[BodyHash(h)] = true
	}
	for k := range latest {
		if !named[k.hash] {
			named[k.hash] = true
			lost = append(lost, k.hash)
		}
	}
	return lost, nil
}

// recordPack records the locations of the bodies of a pack, except bodies that the archive already has.
func (s *Store) recordPack(tx *gorm.DB, pack StoredPack) error {
	if len(pack.Bodies) == 0 {
		return nil
	}
	// A pack that is being deleted was stored too late.
	err := pack.rows().Exec(tx, `INSERT INTO archived_bodies (hash, pack_seq, start_bytes, length_bytes)
		SELECT r.hash, k.seq, r.start_bytes, r.length_bytes FROM {rows} AS r CROSS JOIN archive_packs AS k WHERE k.seq = ? AND NOT k.deleting
		ON CONFLICT (hash) DO UPDATE SET pack_seq = excluded.pack_seq, start_bytes = excluded.start_bytes, length_bytes = excluded.length_bytes
		WHERE archived_bodies.pack_seq IS NULL`, pack.Seq).Error
	if err != nil {
		return err
	}
	return s.updateDueTimes(tx, pack.Seq)
}

func (p StoredPack) rows() *models.Rows {
	rows := models.NewRows("hash bytes, start_bytes bigint, length_bytes bigint")
	for _, b := range p.Bodies {
		rows.Add(b.Hash[:], b.Start, b.Length)
	}
	return rows
}

// readGracePeriod is how long an object stays after its last body has left it, because a reader may still have the old location.
const readGracePeriod = 5 * time.Minute

// updateDueTimes updates when packs are due after their bodies have changed. If less than half of a pack is used, it is due in
// some minutes, or at its earlier due time. Otherwise it is not due.
func (s *Store) updateDueTimes(tx *gorm.DB, packs ...int64) error {
	return models.RowsOf("seq bigint", packs).Exec(tx, `UPDATE archive_packs SET due_at = CASE
			WHEN 2 * (SELECT coalesce(sum(b.length_bytes), -1) FROM archived_bodies AS b WHERE b.pack_seq = archive_packs.seq) < size_bytes THEN coalesce(due_at, ?) END
		WHERE seq IN (SELECT seq FROM {rows} AS r) AND NOT deleting`, s.clock.Now().Add(readGracePeriod)).Error
}
