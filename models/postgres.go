package models

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
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

// clientCheck is how often PostgreSQL checks during a statement that its client is still connected. If it is not,
// PostgreSQL ends the statement: of a killed instance, and of one whose request to cancel arrived too early.
const clientCheck = time.Second

// slowConnect is the time after which the log says that the program waits for PostgreSQL or a pooler.
const slowConnect = 3 * time.Second

// openPostgres opens the pools. It first looks with one connection whether there is a pooler.
func (db *DB) openPostgres(ctx context.Context, url string) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return err
	}
	config.RuntimeParams["client_encoding"] = "UTF8" // else that of the role or the database
	waiting := time.AfterFunc(slowConnect, func() { db.faults.log.Info("waiting for a connection to PostgreSQL") })
	defer waiting.Stop()
	if db.pooled, err = behindPooler(ctx, config); err != nil {
		return err
	}
	switch chosen := strings.Contains(url, "default_query_exec_mode"); {
	case chosen: // the operator knows whether there is a pooler that keeps no sessions
		db.pooled = config.DefaultQueryExecMode != pgx.QueryExecModeCacheStatement
	case db.pooled:
		config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
		db.faults.log.Info("PostgreSQL is behind a connection pooler: no prepared statements and session settings are used")
	}
	urgent, leases := *db, *db
	db.urgent, db.leases = &urgent, &leases
	err = db.openPool(config, poolSize, maxIdle)
	if err == nil {
		err = urgent.openPool(config, urgentSize, maxUrgentIdle)
	}
	if err == nil {
		err = leases.openPool(config, leasesSize, maxUrgentIdle)
	}
	return err
}

// behindPooler reports whether a pooler such as PgBouncer is between the program and the server: it answers with a
// process ID of its own. In transaction mode, each transaction may then have another session, and nothing outside of a
// transaction keeps one: prepared statements, settings and locks of a session.
func behindPooler(ctx context.Context, config *pgx.ConnConfig) (bool, error) {
	conn, err := pgx.ConnectConfig(ctx, config.Copy())
	if err != nil {
		return false, err
	}
	var server uint32
	err = conn.QueryRow(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&server)
	return server != conn.PgConn().PID(), errors.Join(err, conn.Close(ctx))
}

func (db *DB) openPool(config *pgx.ConnConfig, size int, idle time.Duration) (err error) {
	var opts []stdlib.OptionOpenDB
	if db.pooled {
		db.perTransaction = postgresSettings(idle, true)
	} else { // not as connection parameters, which some poolers refuse
		opts = append(opts, stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
			_, err := c.Exec(ctx, postgresSettings(idle, false), pgx.QueryExecModeSimpleProtocol)
			return err
		}))
	}
	pool := stdlib.OpenDB(*config, opts...)
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(size / 2)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	gormConfig := db.gormConfig()
	gormConfig.DisableAutomaticPing = true // Open pings, bounded by its context
	db.write, err = gorm.Open(postgres.New(postgres.Config{Conn: pool}), gormConfig)
	if err != nil {
		return errors.Join(err, pool.Close())
	}
	db.read = db.write
	return nil
}

// postgresSettings returns a statement that sets what the program needs: for a transaction, or for a session.
// Statements read few rows, so compiling them or starting workers for them takes longer than they do. Servers on other
// systems, such as Windows, refuse to check clients.
func postgresSettings(idle time.Duration, transaction bool) string {
	return fmt.Sprintf(`SELECT set_config('idle_in_transaction_session_timeout', '%[1]d', %[3]t),
		set_config('client_connection_check_interval',
			CASE WHEN version() ~ 'linux|darwin|freebsd' THEN '%[2]d' ELSE '0' END, %[3]t),
		set_config('jit', 'off', %[3]t), set_config('max_parallel_workers_per_gather', '0', %[3]t)`,
		idle.Milliseconds(), clientCheck.Milliseconds(), transaction)
}

// NoConnection reports whether PostgreSQL or its pooler has no free connection.
func NoConnection(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pg.Code == "53300" || strings.Contains(pg.Message, "query_wait_timeout")) // too_many_connections; PgBouncer
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
