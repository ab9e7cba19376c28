package crawl

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// sweepTimeout is how long an instance has to sweep the packs that it claimed. After that any instance can claim them:
// deleting an object or moving a body twice does no harm.
const sweepTimeout = 5 * time.Minute

// ClaimedPack is a pack of which less than half is used.
type ClaimedPack struct {
	Seq      int64
	Key      string // of its object
	Deleting bool   // the pack is empty and stays empty: delete its object
}

// ClaimPacks claims up to limit packs of which less than half is used. The caller moves their bodies to another pack and calls
// MoveBodies, or deletes their objects and calls DeletePacks. Otherwise they are due again after some minutes.
func (s *Store) ClaimPacks(ctx context.Context, limit int) (packs []ClaimedPack, err error) {
	now := s.clock.Now()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		packs = nil
		if err := s.db.OneAtATime(tx, lockArchive); err != nil {
			return err
		}
		return tx.Raw(`UPDATE archive_packs SET due_at = ?, deleting = NOT EXISTS (SELECT 1 FROM archived_bodies AS b WHERE b.pack_seq = archive_packs.seq)
			WHERE seq IN (SELECT k.seq FROM archive_packs AS k WHERE k.due_at <= ? ORDER BY k.due_at LIMIT ?)
			RETURNING seq, key, deleting`, now.Add(sweepTimeout), now, limit).Scan(&packs).Error
	})
	if err != nil {
		return nil, fmt.Errorf("claim packs to sweep: %w", err)
	}
	return packs, nil
}

// PackBodies returns the bodies in a pack.
func (s *Store) PackBodies(ctx context.Context, pack int64) ([]PackedBody, error) {
	var found []struct {
		Hash                    []byte
		StartBytes, LengthBytes int64
	}
	err := s.db.Read(ctx).Raw("SELECT hash, start_bytes, length_bytes FROM archived_bodies WHERE pack_seq = ?", pack).Scan(&found).Error
	if err != nil {
		return nil, fmt.Errorf("load bodies of pack: %w", err)
	}
	bodies := make([]PackedBody, len(found))
	for i, f := range found {
		bodies[i] = PackedBody{BodyHash(f.Hash), f.StartBytes, f.LengthBytes}
	}
	return bodies, nil
}

// MoveBodies records that bodies moved from other packs to a new one. It skips bodies that have left their pack meanwhile.
func (s *Store) MoveBodies(ctx context.Context, to StoredPack, from ...int64) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockArchive); err != nil {
			return err
		}
		err := to.rows().Exec(tx, `UPDATE archived_bodies SET pack_seq = k.seq, start_bytes = r.start_bytes, length_bytes = r.length_bytes
			FROM {rows} AS r CROSS JOIN archive_packs AS k
			WHERE archived_bodies.hash = r.hash AND archived_bodies.pack_seq IN ? AND k.seq = ? AND NOT k.deleting`, from, to.Seq).Error
		if err != nil {
			return err
		}
		return s.updateDueTimes(tx, append([]int64{to.Seq}, from...)...)
	})
	if err != nil {
		return fmt.Errorf("move archived bodies: %w", err)
	}
	return nil
}

// DeletePacks deletes the rows of packs from ClaimPacks whose objects are deleted.
func (s *Store) DeletePacks(ctx context.Context, packs ...int64) error {
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		return models.RowsOf("seq bigint", packs).Exec(tx, "DELETE FROM archive_packs WHERE seq IN (SELECT seq FROM {rows} AS r) AND deleting").Error
	})
	if err != nil {
		return fmt.Errorf("delete rows of deleted packs: %w", err)
	}
	return nil
}

// MarkBodiesLost records that the object with a key lacks bodies or has them damaged. Their copies are not listed until a page
// with such a body is fetched and stored again. Bodies that have moved to another object are not lost.
func (s *Store) MarkBodiesLost(ctx context.Context, key string, hashes ...BodyHash) error {
	rows := models.NewRows("hash bytes")
	for _, h := range hashes {
		rows.Add(h[:])
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockArchive); err != nil {
			return err
		}
		var packs []int64
		if err := tx.Raw("SELECT seq FROM archive_packs WHERE key = ?", key).Scan(&packs).Error; err != nil || len(packs) == 0 {
			return err
		}
		if err := rows.Exec(tx, "UPDATE archived_bodies SET pack_seq = NULL WHERE hash IN (SELECT hash FROM {rows} AS r) AND pack_seq = ?", packs[0]).Error; err != nil {
			return err
		}
		return s.updateDueTimes(tx, packs...)
	})
	if err != nil {
		return fmt.Errorf("record lost bodies: %w", err)
	}
	return nil
}
