package models

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/bits"

	"github.com/ncruces/go-sqlite3"
	sqlitedriver "github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/ext/fts5"
	"github.com/ncruces/go-sqlite3/ext/hash"
)

// openPool opens an SQLite database by its URI. Its connections have FTS5, rowsFunction and sha256. A statement that its
// context ended returns the context's error; the driver alone reports only "interrupted" or "busy".
func openPool(uri string) (*sql.DB, error) {
	c, err := (&sqlitedriver.SQLite{}).OpenConnector(uri)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector{c}), nil
}

// maxMemory is the memory limit of a connection. The driver panics when it is reached, and its default of 256 MB
// is too little to sort the rows of a large database. Only addresses are reserved, not memory.
const maxMemory = 4 << 30

type connector struct{ driver.Connector }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	if bits.UintSize == 64 {
		ctx = sqlite3.WithMaxMemory(ctx, maxMemory)
	}
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, ended(ctx, err)
	}
	conn := &sqliteConn{opened.(driverConn), map[string]driverStmt{}}
	if err := errors.Join(fts5.Register(conn.Raw()), hash.Register(conn.Raw()), registerRows(conn.Raw())); err != nil {
		return nil, errors.Join(ended(ctx, err), conn.Close())
	}
	return conn, nil
}

// ended adds the error of an ended context to the error that SQLite returned because of it.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil && (errors.Is(err, sqlite3.INTERRUPT) || errors.Is(err, sqlite3.BUSY)) {
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return err
}

type driverConn interface {
	sqlitedriver.Conn
	driver.ExecerContext
	driver.NamedValueChecker // accepts pointers such as that of Rows
}

type sqliteConn struct {
	driverConn
	idle map[string]driverStmt // compiled statements that are not in use, by their SQL
}

func (c *sqliteConn) Close() error {
	for _, stmt := range c.idle {
		_ = stmt.Close()
	}
	return c.driverConn.Close()
}

func (c *sqliteConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	tx, err := c.driverConn.BeginTx(ctx, opts)
	return tx, ended(ctx, err)
}

func (c *sqliteConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if stmt, ok := c.idle[query]; ok {
		delete(c.idle, query)
		return sqliteStmt{stmt, c, query}, nil
	}
	stmt, err := c.driverConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, ended(ctx, err)
	}
	return sqliteStmt{stmt.(driverStmt), c, query}, nil
}

func (c *sqliteConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	result, err := c.driverConn.ExecContext(ctx, query, args)
	return result, ended(ctx, err)
}

type driverStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
	driver.NamedValueChecker
}

type sqliteStmt struct {
	driverStmt
	conn  *sqliteConn
	query string
}

// Close caches the statement for the next use of the same SQL.
func (s sqliteStmt) Close() error {
	idle := s.conn.idle
	if _, ok := idle[s.query]; ok {
		return s.driverStmt.Close()
	}
	idle[s.query] = s.driverStmt
	if len(idle) > preparedMax {
		for query, stmt := range idle {
			delete(idle, query)
			return stmt.Close()
		}
	}
	return nil
}

func (s sqliteStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	result, err := s.driverStmt.ExecContext(ctx, args)
	return result, ended(ctx, err)
}

func (s sqliteStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := s.driverStmt.QueryContext(ctx, args)
	if err != nil {
		return nil, ended(ctx, err)
	}
	return sqliteRows{rows, ctx}, nil
}

type sqliteRows struct {
	driver.Rows
	ctx context.Context
}

func (r sqliteRows) Next(dest []driver.Value) error { return ended(r.ctx, r.Rows.Next(dest)) }
