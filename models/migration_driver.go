package models

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/golang-migrate/migrate/v4/database"
	"github.com/jackc/pgx/v5"

	"linkwatch/migrations"
)

// Limits of the wait for an instance that migrates the same database.
var (
	maxMigration  = 10 * time.Minute // of one migration, without progress
	lookMigration = 50 * time.Millisecond
)

// migrationDriver lets golang-migrate use an open pool, on either engine. The library's own SQLite drivers each
// link another SQLite. A migration and its version are committed together, so a crash leaves the old schema and no
// "dirty" state.
type migrationDriver struct {
	ctx    context.Context //nolint:containedctx // the library's interface has none
	engine string
	pool   *sql.DB
	log    *slog.Logger
	waited bool // another instance migrated, and the log says so
	have   int  // the last version that was read or committed
	next   int  // the version after the next Run
}

// Lock creates the table schema_migrations. It locks nothing: Run does, in the transaction of each migration.
func (d *migrationDriver) Lock() error {
	tx, err := d.begin(d.pool)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit this does nothing
	if _, err := tx.ExecContext(d.ctx, `CREATE TABLE IF NOT EXISTS schema_migrations (version BIGINT NOT NULL)`); err != nil {
		return err
	}
	return tx.Commit()
}

// Unlock does nothing: a lock ends with its transaction.
func (d *migrationDriver) Unlock() error { return nil }

// begin starts a transaction while no other instance migrates. On PostgreSQL it takes a lock that ends with the
// transaction: a pooler in transaction mode gives each transaction another session. It polls for the lock instead of
// waiting in the server, so that it can report the wait and give up.
func (d *migrationDriver) begin(on interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
},
) (*sql.Tx, error) {
	deadline := time.Now().Add(maxMigration)
	for {
		tx, err := on.BeginTx(d.ctx, nil)
		if err != nil || d.engine == SQLite { // which has one writer
			return tx, err
		}
		var free bool
		err = tx.QueryRowContext(d.ctx, `SELECT pg_try_advisory_xact_lock($1)`, int64(lockMigrations)).Scan(&free)
		if err == nil && free {
			return tx, nil
		}
		if err := errors.Join(err, tx.Rollback()); err != nil {
			return nil, err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("another instance has been migrating the database for more than %s. "+
				"Wait until it is ready, or end it, and start this instance again", maxMigration)
		}
		if !d.waited {
			d.waited = true
			d.log.Info("waiting for another instance to migrate the database", "limit", maxMigration.String())
		}
		select {
		case <-time.After(lookMigration):
		case <-d.ctx.Done():
			return nil, d.ctx.Err()
		}
	}
}

// upgradeUnreleased replaces the schema unreleased by lastBaseline, unless another process has done it.
func (d *migrationDriver) upgradeUnreleased() error {
	script, err := migrations.FS.ReadFile(fmt.Sprintf("%s/upgrade_%d.sql", d.engine, unreleased))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	d.have, d.next = unreleased, lastBaseline
	return d.Run(bytes.NewReader(script))
}

// rebuildsTables is the first line of an SQLite migration that replaces a table to which others refer
// (https://sqlite.org/lang_altertable.html#otheralter). With foreign keys on, dropping the table would delete the
// referring rows.
var rebuildsTables = []byte("-- foreign_keys: off\n")

func (d *migrationDriver) Run(r io.Reader) (err error) {
	script, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	ctx := d.ctx
	conn, err := d.pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	rebuilds := d.engine == SQLite && bytes.HasPrefix(script, rebuildsTables)
	if rebuilds { // this is only possible outside of a transaction
		if _, err := conn.ExecContext(ctx, "PRAGMA foreign_keys = OFF"); err != nil {
			return err
		}
		defer func() {
			_, on := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA foreign_keys = ON")
			err = errors.Join(err, on)
		}()
	}
	tx, err := d.begin(conn)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit this does nothing
	now, err := version(tx)
	if err != nil {
		return err
	}
	if now != d.have { // another process has already run this migration
		d.have = d.next
		return nil
	}
	args := []any{}
	if d.engine == Postgres {
		args = append(args, pgx.QueryExecModeSimpleProtocol) // the only mode with several statements
	}
	if _, err := tx.ExecContext(ctx, string(script), args...); err != nil {
		return &database.Error{OrigErr: err, Err: "migration failed"}
	}
	if rebuilds {
		if err := checkForeignKeys(ctx, tx); err != nil {
			return err
		}
	}
	if err := setVersion(ctx, tx, d.next); err != nil {
		return err
	}
	d.have = d.next
	return tx.Commit()
}

// checkForeignKeys returns an error if a row refers to a missing row.
func checkForeignKeys(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, "PRAGMA foreign_key_check")
	if err != nil {
		return err
	}
	defer rows.Close()
	if rows.Next() {
		return errors.New("the migration leaves rows that refer to missing rows")
	}
	return rows.Err()
}

// SetVersion is called before and after Run. It only stores the version for Run, which commits it together with
// the script.
func (d *migrationDriver) SetVersion(version int, _ bool) error {
	d.next = version
	return nil
}

func setVersion(ctx context.Context, tx *sql.Tx, version int) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM schema_migrations`); err != nil {
		return err
	}
	if version == database.NilVersion {
		return nil
	}
	_, err := tx.ExecContext(ctx, fmt.Sprintf(`INSERT INTO schema_migrations (version) VALUES (%d)`, version))
	return err
}

func (d *migrationDriver) Version() (int, bool, error) {
	v, err := version(d.pool)
	d.have = v
	return v, false, err
}

func version(db interface {
	QueryRow(query string, args ...any) *sql.Row
},
) (v int, err error) {
	err = db.QueryRow(`SELECT version FROM schema_migrations`).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return database.NilVersion, nil
	}
	return v, err
}

// Open is not supported: the owner of the pool opens it.
func (d *migrationDriver) Open(string) (database.Driver, error) { return nil, errors.ErrUnsupported }

// Close leaves the pool open.
func (d *migrationDriver) Close() error { return nil }

// Drop is not supported.
func (d *migrationDriver) Drop() error { return errors.ErrUnsupported }
