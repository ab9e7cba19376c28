package models

import (
	"errors"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

func (db *DB) openPostgres(url string) error {
	config := db.gormConfig()
	config.DisableAutomaticPing = true // Open pings, for no longer than its context lasts
	g, err := gorm.Open(postgres.Open(url), config)
	if err != nil {
		return err
	}
	db.write, db.read = g, g
	pool, err := g.DB()
	if err != nil {
		return err
	}
	n := max(16, 4*runtime.NumCPU())
	pool.SetMaxOpenConns(n)
	pool.SetMaxIdleConns(n / 2)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	return nil
}

// lostRace says whether a transaction failed only because another one ran
// beside it, so that running it again may work.
func lostRace(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	switch pg.Code {
	case "40001", "40P01", // serialization failure, deadlock
		"23503": // a row that was referred to went away meanwhile
		return true
	}
	return false
}
