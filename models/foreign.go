package models

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"

	"github.com/ncruces/go-sqlite3"
)

// Errors of Open for an SQLite file that it refuses. The file is not changed.
var (
	ErrNotSQLite = errors.New("the file is not an SQLite database")
	ErrForeign   = errors.New("the file is an SQLite database of another program")
)

// refuseForeign returns ErrNotSQLite or ErrForeign for an existing file that is not a database of Linkwatch. It
// opens the file as immutable, without locks or additional files, unless there is a write-ahead log to read.
func refuseForeign(ctx context.Context, file string) error {
	info, err := os.Stat(file)
	if err != nil || info.Size() == 0 {
		return nil //nolint:nilerr // a new file; SQLite reports other errors better
	}
	opts := url.Values{"mode": {"ro"}, "immutable": {"1"}}
	if log, err := os.Stat(RealFile(file) + "-wal"); err == nil && log.Size() > 0 {
		opts.Del("immutable")
	}
	pool, err := openPool(sqliteURI(file, opts))
	if err != nil {
		return err
	}
	err = checkForeign(ctx, pool)
	if errors.Is(err, sqlite3.NOTADB) {
		err = ErrNotSQLite
	} else if _, ok := errors.AsType[sqlite3.ExtendedErrorCode](err); ok {
		err = nil // a database that cannot be read without its write-ahead log
	}
	return errors.Join(err, pool.Close())
}

// checkForeign returns ErrForeign unless a database is empty or belongs to Linkwatch. Then it has the table
// schema_migrations, and tables that every version has. It reads all in one transaction, since another process may
// be migrating the database.
func checkForeign(ctx context.Context, pool *sql.DB) (err error) {
	tx, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tx.Close()) }()
	if _, err := tx.ExecContext(ctx, "BEGIN"); err != nil { // BeginTx would take the lock to write
		return err
	}
	defer func() {
		_, rollback := tx.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		err = errors.Join(err, rollback)
	}()
	var application, objects, jobs, keys, versions, version int
	err = tx.QueryRowContext(ctx, `SELECT (SELECT application_id FROM pragma_application_id), count(*),
		coalesce(sum(name = 'scheduled_jobs'), 0), coalesce(sum(name = 'idempotency_keys'), 0),
		(SELECT count(*) = 1 AND min(name = 'version' AND type = 'BIGINT' AND "notnull") FROM pragma_table_info('schema_migrations'))
		FROM sqlite_master WHERE type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_'`).Scan(&application, &objects, &jobs, &keys, &versions)
	switch {
	case err != nil:
		return err
	case application != 0, objects > 0 && versions == 0:
		return ErrForeign
	case objects == 0:
		return nil
	}
	if err = tx.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM schema_migrations`).Scan(&version); err != nil {
		return err
	}
	if version == 0 && objects > 1 || version > 0 && (jobs == 0 || keys == 0) {
		return ErrForeign
	}
	return nil
}
