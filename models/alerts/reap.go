package alerts

import "gorm.io/gorm"

// ReapAlerts deletes up to limit alerts that were resolved more than KeepAlerts ago, with their messages.
func (s *Store) ReapAlerts(tx *gorm.DB, limit int) (int64, error) {
	return s.db.DeleteBatch(tx, limit, "alerts", "seq", "resolved_at < ? ORDER BY resolved_at", s.clock.Now().Add(-KeepAlerts))
}

// ReapSettings deletes up to limit channels, rules and maintenance windows that can no longer be restored.
func (s *Store) ReapSettings(tx *gorm.DB, limit int) (n int64, err error) {
	for _, table := range []string{"channels", "alert_rules", "maintenance"} {
		deleted, err := s.db.DeleteBatch(tx, limit-int(n), table, "seq", "deleted_at < ? ORDER BY deleted_at", s.clock.Now().Add(-KeepDeleted))
		if n += deleted; err != nil || n == int64(limit) {
			return n, err
		}
	}
	return n, nil
}
