package accounts_test

import "gorm.io/gorm"

type gormDB = gorm.DB

// reap runs what the reaper does, once.
func reap(s *store, remove func(tx *gorm.DB, limit int) (int64, error)) (n int64, err error) {
	err = s.db.Write(s.Context(), func(tx *gorm.DB) error {
		n, err = remove(tx, 100)
		return err
	})
	return n, err
}
