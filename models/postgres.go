package models

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

// The sizes of the connection pools.
var (
	poolSize   = max(16, 4*runtime.NumCPU())
	urgentSize = max(4, runtime.NumCPU())
)

const leasesSize = 2

// PostgreSQL ends transactions that are idle for this long and releases their locks, so
// that an instance that stops or loses its connection does not block others.
const (
	maxIdle       = 10 * time.Second
	maxUrgentIdle = 2 * time.Second
)

func (db *DB) openPostgres(url string) error {
	urgent, leases := *db, *db
	db.urgent, db.leases = &urgent, &leases
	err := db.openPool(url, poolSize, maxIdle)
	if err == nil {
		err = urgent.openPool(url, urgentSize, maxUrgentIdle)
	}
	if err == nil {
		err = leases.openPool(url, leasesSize, maxUrgentIdle)
	}
	return err
}

func (db *DB) openPool(url string, size int, idle time.Duration) error {
	parsed, err := pgx.ParseConfig(url)
	if err != nil {
		return err
	}
	// Not as connection parameters, which some poolers refuse. Statements read few rows, so compiling them or starting
	// workers for them takes longer than they do.
	settings := fmt.Sprintf("SET idle_in_transaction_session_timeout = %d; SET jit = off; SET max_parallel_workers_per_gather = 0", idle.Milliseconds())
	pool := stdlib.OpenDB(*parsed, stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, settings)
		return err
	}))
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(size / 2)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	config := db.gormConfig()
	config.DisableAutomaticPing = true // Open pings, bounded by its context
	db.write, err = gorm.Open(postgres.New(postgres.Config{Conn: pool}), config)
	if err != nil {
		return errors.Join(err, pool.Close())
	}
	db.read = db.write
	return nil
}

// isRetryable reports whether a transaction failed because of a concurrent one, so that it may succeed if it is run
// again.
func isRetryable(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	switch pg.Code {
	case "40001", "40P01", // serialization failure, deadlock
		"23503": // a referenced row was deleted meanwhile
		return true
	}
	return false
}
