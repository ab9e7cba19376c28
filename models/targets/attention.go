package targets

import (
	"context"
	"fmt"

	"gorm.io/gorm"
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
	q := func() *gorm.DB { return Filter{Certificate: c}.apply(notDeleted(s.db.Read(ctx)), s.clock.Now()) }
	var all int64
	if err := q().Count(&all).Error; err != nil {
		return 0, nil, fmt.Errorf("count certificates: %w", err)
	}
	first, err = find(q().Order("tls_expires_at, seq").Limit(limit))
	return int(all), first, err
}
