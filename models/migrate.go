package models

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/source"
	"github.com/golang-migrate/migrate/v4/source/iofs"
	"github.com/jackc/pgx/v5"

	"linkwatch/migrations"
)

// Migrate upgrades the schema to the newest version.
func (db *DB) Migrate() error {
	return db.migrate(func(m *migrate.Migrate) error { return m.Up() })
}

// MigrateDown reverts the newest steps migrations, or all of them if steps is 0. If there are fewer it returns an
// error and reverts none.
func (db *DB) MigrateDown(steps int) error {
	return db.migrate(func(m *migrate.Migrate) error {
		if steps == 0 {
			return m.Down()
		}
		have, _, err := m.Version()
		if err != nil { // there is no schema; Steps returns the error
			return m.Steps(-steps)
		}
		all, err := versions(db.Engine)
		if err != nil {
			return err
		}
		applied := 0
		for _, v := range all {
			if v <= int(have) {
				applied++
			}
		}
		if applied < steps && applied > 0 {
			return fmt.Errorf("cannot revert %d migrations: only %d are applied", steps, applied)
		}
		return m.Steps(-steps)
	})
}

func (db *DB) migrate(do func(*migrate.Migrate) error) error {
	src, err := iofs.New(migrations.FS, db.Engine)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	pool, err := db.writer()
	if err != nil {
		return err
	}
	drv := &migrationDriver{engine: db.Engine, pool: pool}
	m, err := migrate.NewWithInstance("embedded", src, db.Engine, drv)
	if err != nil {
		return fmt.Errorf("prepare migrations: %w", err)
	}
	err = do(m)
	switch newest, e := newestVersion(db.Engine); {
	case e != nil:
		return e
	case isOld(drv.have):
		return fmt.Errorf("the database %s", oldSchema(drv.have))
	case drv.have > newest:
		return newerSchema(drv.have, newest)
	case err != nil && drv.have == database.NilVersion:
		return errors.New("no migrations to revert")
	case err != nil && !errors.Is(err, migrate.ErrNoChange):
		return fmt.Errorf("migrate schema: %w", err)
	}
	return nil
}

// baseline is the version of the first migration. Earlier schemas were never released, so no migration upgrades
// them.
const baseline = 100

func isOld(version int) bool { return version > 0 && version < baseline }

// oldSchema describes a database with a schema before baseline, for error messages.
func oldSchema(version int) string {
	return fmt.Sprintf("has schema %d, from before the first release of Linkwatch, and cannot be migrated: set DATABASE_URL to a new database", version)
}

func newerSchema(have, newest int) error {
	return fmt.Errorf("the database is at schema %d, and this program supports schemas up to %d: use a newer Linkwatch", have, newest)
}

// Ready returns an error unless the database responds, its schema is the newest and it is writable. If a fault is
// the cause, the error is an *Error.
func (db *DB) Ready(ctx context.Context) error {
	if err := db.faults.check(ctx, db.probeWrite); err != nil {
		return err
	}
	want, err := newestVersion(db.Engine)
	if err != nil {
		return err
	}
	var have int
	err = db.Read(ctx).Raw(`SELECT COALESCE(MAX(version), -1) FROM schema_migrations`).Scan(&have).Error
	if err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	if have != want {
		return fmt.Errorf("schema version is %d, this program needs %d", have, want)
	}
	return nil
}

// probeWrite returns an error if the database is not writable. A small transaction often succeeds on a full disk, so
// on SQLite it also writes a file of 1 MiB.
func (db *DB) probeWrite(ctx context.Context) error {
	if db.faults.file != "" {
		if err := probeDisk(db.faults.file); err != nil {
			return err
		}
	}
	return db.write.WithContext(ctx).Exec("UPDATE schema_migrations SET version = version").Error
}

// probeDisk writes a file of 1 MiB to the folder of another file, and removes it.
func probeDisk(file string) error {
	content := make([]byte, 1<<20)
	_, _ = rand.Read(content) // never fails; zeros might use no disk space
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+"-probe-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name()))
}

// versions returns the versions of the migrations in ascending order.
func versions(engine string) (all []int, err error) {
	files, err := fs.ReadDir(migrations.FS, engine)
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	for _, f := range files {
		if m, err := source.DefaultParse(f.Name()); err == nil && m.Direction == source.Up {
			all = append(all, int(m.Version))
		}
	}
	slices.Sort(all)
	return all, nil
}

func newestVersion(engine string) (int, error) {
	all, err := versions(engine)
	if err != nil || len(all) == 0 {
		return 0, err
	}
	return all[len(all)-1], nil
}

// migrationDriver lets golang-migrate use an open pool, on either engine. The library's own SQLite drivers each
// link another SQLite. A migration and its version are committed together, so a crash leaves the old schema and no
// "dirty" state.
type migrationDriver struct {
	engine string
	pool   *sql.DB
	have   int // the last version that was read or committed
	next   int // the version after the next Run
	lock   *sql.Conn
}

// Lock prevents two instances from migrating a PostgreSQL database at the same time. On SQLite Run does that. Lock
// also creates the table schema_migrations.
func (d *migrationDriver) Lock() error {
	ctx := context.Background()
	if d.engine == Postgres {
		conn, err := d.pool.Conn(ctx)
		if err != nil {
			return err
		}
		if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, int64(lockMigrations)); err != nil {
			return errors.Join(err, conn.Close())
		}
		d.lock = conn
	}
	_, err := d.pool.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS schema_migrations (version BIGINT NOT NULL)`)
	return err
}

func (d *migrationDriver) Unlock() error {
	if d.lock == nil {
		return nil
	}
	_, err := d.lock.ExecContext(context.Background(), `SELECT pg_advisory_unlock($1)`, int64(lockMigrations))
	err = errors.Join(err, d.lock.Close())
	d.lock = nil
	return err
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
	ctx := context.Background()
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
			_, on := conn.ExecContext(ctx, "PRAGMA foreign_keys = ON")
			err = errors.Join(err, on)
		}()
	}
	tx, err := conn.BeginTx(ctx, nil)
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
	if _, err := tx.Exec(string(script), args...); err != nil {
		return &database.Error{OrigErr: err, Err: "migration failed"}
	}
	if rebuilds {
		if err := checkForeignKeys(tx); err != nil {
			return err
		}
	}
	if err := setVersion(tx, d.next); err != nil {
		return err
	}
	d.have = d.next
	return tx.Commit()
}

// checkForeignKeys returns an error if a row refers to a missing row.
func checkForeignKeys(tx *sql.Tx) error {
	rows, err := tx.Query("PRAGMA foreign_key_check")
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

func setVersion(tx *sql.Tx, version int) error {
	if _, err := tx.Exec(`DELETE FROM schema_migrations`); err != nil {
		return err
	}
	if version == database.NilVersion {
		return nil
	}
	_, err := tx.Exec(fmt.Sprintf(`INSERT INTO schema_migrations (version) VALUES (%d)`, version))
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
