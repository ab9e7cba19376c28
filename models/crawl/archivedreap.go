package crawl

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"linkwatch/models"
)

// deleteAgainAfter is how long an instance has to delete bodies that it took. Then any
// instance takes them: a body that is deleted twice does no harm.
const deleteAgainAfter = 5 * time.Minute

// ReapArchive deletes up to limit records of copies that no fetch has found for
// Options.ArchiveRetention. Bodies that no page names then wait for BodiesToDelete: the
// archive may be away, and a transaction must not wait for it.
func (s *Store) ReapArchive(tx *gorm.DB, limit int) (int64, error) {
	return s.dropCopies(tx, limit, "a.fetched_at < ? ORDER BY a.fetched_at", s.clock.Now().Add(-s.opts.ArchiveRetention))
}

// dropCopies deletes up to limit records of copies (a).
func (s *Store) dropCopies(tx *gorm.DB, limit int, where string, args ...any) (int64, error) {
	if err := s.db.OneAtATime(tx, lockArchive); err != nil {
		return 0, err
	}
	var seqs []int64
	if err := tx.Raw("SELECT a.seq FROM archived_pages AS a WHERE "+where+" LIMIT ?", append(args, limit)...).Scan(&seqs).Error; err != nil {
		return 0, err
	}
	return s.dropped(tx, rowsOf(seqs), "SELECT seq FROM {rows} AS r")
}

// dropped deletes the records of copies that a query of rows finds. Their bodies are
// due to be deleted if no other page has them. The caller holds lockArchive.
func (s *Store) dropped(tx *gorm.DB, rows *models.Rows, which string, args ...any) (int64, error) {
	if rows.Len() == 0 {
		return 0, nil
	}
	var gone []struct{ Hash []byte }
	if err := rows.Raw(tx, "DELETE FROM archived_pages WHERE seq IN ("+which+") RETURNING hash", args...).Scan(&gone).Error; err != nil {
		return 0, err
	}
	hashes := models.NewRows("hash bytes")
	for _, g := range gone {
		hashes.Add(g.Hash)
	}
	err := hashes.Exec(tx, `UPDATE archived_blobs SET due_at = ? WHERE hash IN (SELECT hash FROM {rows} AS r) AND due_at IS NULL
		AND NOT EXISTS (SELECT 1 FROM archived_pages WHERE hash = archived_blobs.hash)`, s.clock.Now()).Error
	return int64(len(gone)), err
}

func rowsOf(seqs []int64) *models.Rows {
	rows := models.NewRows("seq bigint")
	for _, seq := range seqs {
		rows.Add(seq)
	}
	return rows
}

// BodiesToDelete takes up to limit bodies that no page names. From then on none can
// name them. The caller deletes them from the archive and calls BodiesDeleted; if it
// does not, they are taken again after some minutes.
func (s *Store) BodiesToDelete(ctx context.Context, limit int) (hashes []BodyHash, err error) {
	var taken []struct{ Hash []byte }
	now := s.clock.Now()
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		taken = nil
		if err := s.db.OneAtATime(tx, lockArchive); err != nil {
			return err
		}
		return tx.Raw(`UPDATE archived_blobs SET deleting = true, due_at = ? WHERE hash IN (
			SELECT b.hash FROM archived_blobs AS b WHERE b.due_at <= ? AND NOT EXISTS (SELECT 1 FROM archived_pages AS a WHERE a.hash = b.hash) ORDER BY b.due_at LIMIT ?)
			RETURNING hash`, now.Add(deleteAgainAfter), now, limit).Scan(&taken).Error
	})
	if err != nil {
		return nil, fmt.Errorf("looking for bodies to delete: %w", err)
	}
	for _, t := range taken {
		hashes = append(hashes, BodyHash(t.Hash))
	}
	return hashes, nil
}

// BodiesDeleted forgets bodies that BodiesToDelete gave and the archive has deleted.
func (s *Store) BodiesDeleted(ctx context.Context, hashes ...BodyHash) error {
	rows := models.NewRows("hash bytes")
	for _, h := range hashes {
		rows.Add(h[:])
	}
	err := s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := s.db.OneAtATime(tx, lockArchive); err != nil {
			return err
		}
		return rows.Exec(tx, "DELETE FROM archived_blobs WHERE hash IN (SELECT hash FROM {rows} AS r) AND deleting").Error
	})
	if err != nil {
		return fmt.Errorf("forgetting deleted bodies: %w", err)
	}
	return nil
}
