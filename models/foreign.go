package models

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
)

// The errors of an SQLite file that Open refuses. It is as it was before.
var (
	ErrNotSQLite = errors.New("the file is not an SQLite database")
	ErrForeign   = errors.New("the file is an SQLite database of another program")
)

// refuseForeign returns ErrNotSQLite or ErrForeign for a file that is there and
// holds something else than a database of Linkwatch. It opens the file as
// immutable, which neither locks it nor makes files beside it. What is only in
// a write-ahead log it cannot see: Open asks again before anything is written.
func refuseForeign(ctx context.Context, file string) error {
	info, err := os.Stat(file)
	if err != nil || info.Size() == 0 {
		return nil //nolint:nilerr // a file to be made; other errors are better told by SQLite
	}
	pool, err := sql.Open("sqlite", sqliteURI(file, url.Values{"mode": {"ro"}, "immutable": {"1"}}))
	if err != nil {
		return err
	}
	err = checkForeign(ctx, pool)
	if e, ok := errors.AsType[sqliteError](err); ok {
		err = nil // a database that needs its write-ahead log to be read
		if e.Code()&0xff == sqliteNotADB {
			err = ErrNotSQLite
		}
	}
	return errors.Join(err, pool.Close())
}

const sqliteNotADB = 26 // SQLITE_NOTADB

// checkForeign returns ErrForeign unless a database is empty or ours: then it
// has our table of versions, and at every version the first table of all.
func checkForeign(ctx context.Context, pool *sql.DB) error {
	var tables, ours, columns, version int
	err := pool.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(name IN ('links', 'idempotency_keys')), 0),
		(SELECT count(*) FROM pragma_table_info('schema_migrations')) FROM sqlite_master
		WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`).Scan(&tables, &ours, &columns)
	switch {
	case err != nil:
		return err
	case tables == 0:
		return nil
	case columns != 1:
		return ErrForeign
	}
	if err := pool.QueryRowContext(ctx, `SELECT count(*) FROM schema_migrations`).Scan(&version); err != nil {
		return err
	}
	if version > 0 && ours != 2 {
		return ErrForeign
	}
	return nil
}
