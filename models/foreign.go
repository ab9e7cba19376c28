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
// immutable, which neither locks it nor makes files beside it, unless there is a
// write-ahead log to be read as well.
func refuseForeign(ctx context.Context, file string) error {
	info, err := os.Stat(file)
	if err != nil || info.Size() == 0 {
		return nil //nolint:nilerr // a file to be made; other errors are better told by SQLite
	}
	opts := url.Values{"mode": {"ro"}, "immutable": {"1"}}
	if log, err := os.Stat(file + "-wal"); err == nil && log.Size() > 0 {
		opts.Del("immutable")
	}
	pool, err := sql.Open("sqlite", sqliteURI(file, opts))
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
// has our table of versions, with nothing else if there is no version in it, and
// with the first tables of all if there is.
func checkForeign(ctx context.Context, pool *sql.DB) error {
	var application, objects, ours, columns, versions int
	err := pool.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id), count(*),
		coalesce(sum(name IN ('links', 'idempotency_keys')), 0), (SELECT count(*) FROM pragma_table_info('schema_migrations'))
		FROM sqlite_master WHERE type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_'`).Scan(&application, &objects, &ours, &columns)
	switch {
	case err != nil:
		return err
	case application != 0, objects > 0 && columns != 1:
		return ErrForeign
	case objects == 0:
		return nil
	}
	if err := pool.QueryRowContext(ctx, `SELECT count(*) FROM schema_migrations`).Scan(&versions); err != nil {
		return err
	}
	if versions == 0 && objects > 1 || versions > 0 && ours != 2 {
		return ErrForeign
	}
	return nil
}
