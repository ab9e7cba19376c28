package models_test

import (
	"database/sql/driver"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/stdlib"

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

// PostgreSQL ends the statement of an instance that was killed.
func TestStatementOfALostClientEnds(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		if db.Engine != models.Postgres {
			return // a statement ends with its process
		}
		conn := connection(t, db)
		runs := func() bool {
			var n int
			const query = `SELECT count(*) FROM pg_stat_activity
				WHERE datname = current_database() AND wait_event = 'PgSleep'`
			if err := db.Read(t.Context()).Raw(query).Scan(&n).Error; err != nil {
				t.Fatal(err)
			}
			return n > 0
		}
		_ = conn.Raw(func(c any) error {
			client := c.(*stdlib.Conn).Conn().PgConn()
			client.Frontend().SendQuery(&pgproto3.Query{String: "SELECT pg_sleep(600)"})
			if err := client.Frontend().Flush(); err != nil {
				t.Error(err)
			}
			modelstest.Eventually(t, "the statement runs", runs)
			_ = client.Conn().Close() // without a request to cancel
			return driver.ErrBadConn
		})
		modelstest.Eventually(t, "the statement ends", func() bool { return !runs() })
	})
}
