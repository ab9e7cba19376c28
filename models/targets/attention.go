package targets

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"linkwatch/models"
)

// NeedAttention returns up to limit targets that are down, the most recent first,
// without their Uptime.
func (s *Store) NeedAttention(ctx context.Context, limit int) ([]Target, error) {
	// Without arguments in the condition, because the index is partial.
	return find(notDeleted(s.db.Read(ctx)).Where("state = 'down' AND NOT paused").Order("state_since DESC, seq DESC").Limit(limit))
}

// Certificates returns the number of targets with such a certificate and up to limit
// of them, the earliest expiry first, without their Uptime.
func (s *Store) Certificates(ctx context.Context, c Certificate, limit int) (n int, first []Target, err error) {
	q := func() *gorm.DB {
		q := notDeleted(s.db.Read(ctx))
		Filter{Certificate: c}.conditions(s.clock.Now(), func(condition string, args ...any) { q = q.Where(condition, args...) })
		return q
	}
	var all int64
	if err := q().Count(&all).Error; err != nil {
		return 0, nil, fmt.Errorf("count certificates: %w", err)
	}
	first, err = find(q().Order("tls_expires_at, seq").Limit(limit))
	return int(all), first, err
}

// maxSorted is the largest number of targets with an expiring or expired certificate that a list sorts. If there are
// more, it reads all targets in order instead, and soon finds a page of them.
const maxSorted = 20_000

// byCertificate returns a query for the first n targets of a list by certificate, which has the condition where.
func byCertificate(tx *gorm.DB, c Certificate, now models.Time, p models.ListPart) (*gorm.DB, error) {
	own, ownArgs := "TRUE", []any(nil)
	Filter{Certificate: c}.conditions(now, func(condition string, args ...any) { own, ownArgs = condition, args })
	var found int
	if err := tx.Raw("SELECT count(*) FROM (SELECT 1 FROM targets WHERE deleted_at IS NULL AND "+own+" LIMIT ?) AS c", append(ownArgs, maxSorted)...).Scan(&found).Error; err != nil {
		return nil, fmt.Errorf("count certificates: %w", err)
	}
	q := tx.Model(&Target{})
	if found == maxSorted {
		return q.Where(p.Where, p.Args...), nil
	}
	return q.Where("seq IN (SELECT seq FROM (SELECT seq FROM targets WHERE "+p.Where+" ORDER BY "+p.Order+" LIMIT ?) AS keys)", append(slices.Clip(p.Args), p.Limit)...), nil
}
