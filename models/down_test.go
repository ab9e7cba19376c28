package models_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/ncruces/go-sqlite3"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

// Errors of the connection or of the server differ from errors of a statement.
func TestDatabaseDown(t *testing.T) {
	for _, c := range []struct {
		err  error
		down bool
	}{
		{pgconn.ErrConnClosed, true},
		{pgx.ErrTxClosed, true},
		{&pgconn.ConnectError{}, true},
		{driver.ErrBadConn, true},
		{sql.ErrConnDone, true},
		{sql.ErrTxDone, true},
		{io.ErrUnexpectedEOF, true},
		{net.ErrClosed, true},
		{&net.OpError{Op: "read", Err: errors.New("reset")}, true},
		{&pgconn.PgError{Code: "57P01"}, true}, // admin_shutdown
		{&pgconn.PgError{Code: "57P03"}, true}, // cannot_connect_now
		{&pgconn.PgError{Code: "53100"}, true}, // disk_full
		{&pgconn.PgError{Code: "53300"}, true}, // too_many_connections
		{&pgconn.PgError{Code: "08006"}, true}, // connection_failure
		{&pgconn.PgError{Code: "58030"}, true}, // io_error
		{&pgconn.PgError{Code: "25006"}, true}, // read_only_sql_transaction
		{&pgconn.PgError{Code: "25P03"}, true}, // idle_in_transaction_session_timeout
		{&pgconn.PgError{Code: "XX001"}, true}, // data_corrupted
		{sqlite3.BUSY, true},
		{sqlite3.BUSY_SNAPSHOT, true},
		{sqlite3.CANTOPEN_ISDIR, true},
		{sqlite3.FULL, true},
		{sqlite3.IOERR_WRITE, true},
		{sqlite3.IOERR_SHMSIZE, true},
		{sqlite3.CORRUPT_INDEX, true},
		{sqlite3.NOTADB, true},
		{sqlite3.CONSTRAINT_UNIQUE, false},
		{sqlite3.CONSTRAINT_CHECK, false},
		{sqlite3.INTERRUPT, false},
		{sqlite3.READONLY, false},
		{&pgconn.PgError{Code: "23505"}, false},
		{&pgconn.PgError{Code: "42P01"}, false},
		{&pgconn.PgError{Code: "25P02"}, false},
		{sql.ErrNoRows, false},
		{context.Canceled, false},
		{errors.New("scanning a row"), false},
		{models.NotFound("link"), false},
	} {
		if got := models.DatabaseDown(fmt.Errorf("loading links: %w", c.err)); got != c.down {
			t.Errorf("%T %v: %v, want %v", c.err, c.err, got, c.down)
		}
	}
}

// connection returns a connection of the pool.
func connection(t *testing.T, db *models.DB) *sql.Conn {
	t.Helper()
	pool, err := db.Read(t.Context()).DB()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// A connection that the driver has closed already is no error of the statement.
func TestClosedConnection(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		if db.Engine != models.Postgres {
			return
		}
		conn := connection(t, db)
		defer conn.Close() //nolint:errcheck // it is closed already
		tx, err := conn.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Raw(func(c any) error { return c.(*stdlib.Conn).Conn().Close(context.Background()) })
		_, err = tx.Exec("SELECT 1")
		if !models.DatabaseDown(err) {
			t.Errorf("a statement: %v", err)
		}
		if err := tx.Commit(); !models.DatabaseDown(err) {
			t.Errorf("a commit: %v", err)
		}
	})
}
