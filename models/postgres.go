package models

import (
	"errors"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

// Connections to PostgreSQL at most.
var (
	poolSize   = max(16, 4*runtime.NumCPU())
	urgentSize = max(4, runtime.NumCPU())
)

func (db *DB) openPostgres(url string) (err error) {
	if db.write, err = db.openPool(url, poolSize); err != nil {
		return err
	}
	db.read = db.write
	urgent := *db
	urgent.write, err = db.openPool(url, urgentSize)
	urgent.read = urgent.write
	db.urgent = &urgent
	return err
}

func (db *DB) openPool(url string, size int) (*gorm.DB, error) {
	config := db.gormConfig()
	config.DisableAutomaticPing = true // Open pings, for no longer than its context lasts
	g, err := gorm.Open(postgres.Open(url), config)
	if err != nil {
		return nil, err
	}
	pool, err := g.DB()
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(size / 2)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	return g, nil
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
