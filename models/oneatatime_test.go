package models_test

import (
	"context"
	"testing"

	"gorm.io/gorm"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

// An instance that stops in the middle of a transaction does not hold up the others
// forever: PostgreSQL ends the transaction. Other transactions may rest.
func TestOneAtATimeIsLimited(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		if db.Engine != models.Postgres {
			return // where the operating system ends the lock of a process
		}
		limit := func(lock bool) (limit string) {
			err := db.Write(context.Background(), func(tx *gorm.DB) error {
				if lock {
					if err := db.OneAtATime(tx, 1); err != nil {
						return err
					}
				}
				return tx.Raw("SELECT current_setting('idle_in_transaction_session_timeout')").Scan(&limit).Error
			})
			if err != nil {
				t.Fatal(err)
			}
			return limit
		}
		if before, within, after := limit(false), limit(true), limit(false); within != "10s" || after != before {
			t.Errorf("the limit is %s, within %s, and after it %s", before, within, after)
		}
	})
}
