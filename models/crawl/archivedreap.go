package crawl

import (
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
)

// ReapArchive deletes up to limit records of copies that no fetch has seen for Options.ArchiveRetention. The sweep deletes
// unused packs later: the archive may be unavailable, and a transaction must not wait for it.
func (s *Store) ReapArchive(tx *gorm.DB, limit int) (int64, error) {
	return s.deleteCopies(tx, limit, "ORDER BY a.fetched_at", "a.fetched_at < ?", s.clock.Now().Add(-s.opts.ArchiveRetention))
}

// deleteCopies deletes the first limit records of copies (a) in an order.
func (s *Store) deleteCopies(tx *gorm.DB, limit int, order, where string, args ...any) (int64, error) {
	if err := s.db.OneAtATime(tx, lockArchive); err != nil {
		return 0, err
	}
	var seqs []int64
	if err := tx.Raw("SELECT a.seq FROM archived_pages AS a WHERE "+where+" "+order+" LIMIT ?", append(slices.Clone(args), limit)...).Scan(&seqs).Error; err != nil {
		return 0, err
	}
	// The condition is repeated: a crawl may have seen one of the copies meanwhile.
	return s.deleteCopiesWhere(tx, models.RowsOf("seq bigint", seqs), "a.seq IN (SELECT seq FROM {rows} AS r) AND "+where, args...)
}

// deleteCopiesWhere deletes the records of copies (a) that match a condition on rows, and the bodies that no other page has. The
// caller holds lockArchive.
func (s *Store) deleteCopiesWhere(tx *gorm.DB, rows *models.Rows, which string, args ...any) (int64, error) {
	if rows.Len() == 0 {
		return 0, nil
	}
	var gone [][]byte
	if err := rows.Raw(tx, "DELETE FROM archived_pages AS a WHERE "+which+" RETURNING hash", args...).Scan(&gone).Error; err != nil || len(gone) == 0 {
		return 0, err
	}
	hashes := models.NewRows("hash bytes")
	for _, h := range gone {
		hashes.Add(h)
	}
	var packs []int64 // 0 = a body that was lost
	err := hashes.Raw(tx, `DELETE FROM archived_bodies WHERE hash IN (SELECT hash FROM {rows} AS r)
		AND NOT EXISTS (SELECT 1 FROM archived_pages AS a WHERE a.hash = archived_bodies.hash) RETURNING coalesce(pack_seq, 0)`).Scan(&packs).Error
	if err != nil {
		return 0, err
	}
	slices.Sort(packs)
	return int64(len(gone)), s.updateDueTimes(tx, slices.Compact(packs)...)
}
