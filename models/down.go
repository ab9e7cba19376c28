package models

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/ncruces/go-sqlite3"
)

// DatabaseDown reports whether err is caused by the connection or the state of the database, not by the statement.
// Causes are a missing connection, a PostgreSQL server that is full, starting, stopping or read-only, and a disk
// fault. Another one is an SQLite file that another program locks for too long. Use it for errors of the database
// only: other network errors look the same.
func DatabaseDown(err error) bool {
	if _, ok := errors.AsType[*net.OpError](err); ok || isBusy(err) || FaultOf(err) != nil || pgconn.SafeToRetry(err) {
		return true
	}
	for _, cut := range []error{
		driver.ErrBadConn, sql.ErrConnDone, sql.ErrTxDone, io.ErrUnexpectedEOF, io.EOF, net.ErrClosed,
		pgconn.ErrConnClosed, pgx.ErrTxClosed,
	} {
		if errors.Is(err, cut) {
			return true
		}
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok || pgconn.Timeout(err) {
		return true
	}
	if errors.Is(err, sqlite3.CANTOPEN) { // a file of the database, such as its write-ahead log
		return true
	}
	pg, ok := errors.AsType[postgresError](err)
	if !ok {
		return false
	}
	switch state := pg.SQLState(); state[:min(2, len(state))] {
	case "08", "53", "57", "58": // connection, resources, operator intervention, system error
		return true
	default:
		return state == "25006" || // read_only_sql_transaction: a standby after a failover
			state == "25P03" // idle_in_transaction_session_timeout: this process was stopped (maxIdle)
	}
}

// postgresError is an error with a state of PostgreSQL.
type postgresError interface {
	error
	SQLState() string
}
