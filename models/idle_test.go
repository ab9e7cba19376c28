package models_test

import (
	"testing"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

// An instance that stops in the middle of a transaction does not hold up the others
// forever: PostgreSQL ends the transaction.
func TestTransactionsThatRestAreLimited(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		if db.Engine != models.Postgres {
			return // where the operating system ends the lock of a process
		}
		for want, db := range map[string]*models.DB{"10s": db, "2s": db.Urgent()} {
			var limit string
			if err := db.Read(t.Context()).Raw("SELECT current_setting('idle_in_transaction_session_timeout')").Scan(&limit).Error; err != nil {
				t.Fatal(err)
			}
			if limit != want {
				t.Errorf("the limit is %s, want %s", limit, want)
			}
		}
	})
}
