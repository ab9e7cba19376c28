package models

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"
	"github.com/golang-migrate/migrate/v4/source"
	"github.com/golang-migrate/migrate/v4/source/iofs"

	"linkwatch/migrations"
)

// Migrate upgrades the schema to the newest version. It returns an error that says what to do if a condition of
// CheckServer does not hold, and for a schema that it cannot upgrade, see oldSchema. If another instance migrates the
// database, Migrate waits for it, at most maxMigration for each migration. With the newest schema, it takes no lock.
func (db *DB) Migrate(ctx context.Context) error {
	newest, err := newestVersion(db.Engine)
	if err != nil {
		return err
	}
	have, err := db.schemaVersion(ctx)
	if err == nil && have > newest {
		return newerSchema(have, newest)
	}
	pending := err == nil && have != newest
	if err := errors.Join(db.CheckServer(ctx, pending), err); err != nil || !pending {
		return err
	}
	return db.migrate(ctx, func(m *migrate.Migrate, drv *migrationDriver) error { //nolint:contextcheck // drv has ctx
		if have == unreleased {
			if err := drv.upgradeUnreleased(); err != nil {
				return err
			}
		}
		return m.Up()
	})
}

// MigrateDown reverts the newest steps migrations. If there are fewer, or if one of them is a baseline, it returns an
// error and reverts none: reverting a baseline would delete all data of a system, such as all accounts.
func (db *DB) MigrateDown(ctx context.Context, steps int) error {
	return db.revert(ctx, steps, lastBaseline)
}

// revert reverts the newest steps migrations, or all of them if steps is 0, but none up to the version keep.
func (db *DB) revert(ctx context.Context, steps, keep int) error {
	return db.migrate(ctx, func(m *migrate.Migrate, _ *migrationDriver) error {
		have, _, err := m.Version()
		switch {
		case err == nil && have == unreleased:
			return fmt.Errorf("the database has schema %d: run \"linkwatch migrate up\" first", have)
		case steps == 0:
			return m.Down()
		case err != nil: // there is no schema; Steps returns the error
			return m.Steps(-steps)
		}
		all, err := versions(db.Engine)
		if err != nil {
			return err
		}
		applied := all[:0]
		for _, v := range all {
			if v <= int(have) {
				applied = append(applied, v)
			}
		}
		if len(applied) == 0 {
			return m.Steps(-steps) // returns the error
		}
		if len(applied) < steps {
			return fmt.Errorf("cannot revert %d migrations: only %d are applied", steps, len(applied))
		}
		if last := applied[len(applied)-steps]; last <= keep {
			return fmt.Errorf("cannot revert migration %d: it creates a system, and reverting it would delete all data of the system; "+
				"to return to an older program, restore a backup", last)
		}
		return m.Steps(-steps)
	})
}

func (db *DB) migrate(ctx context.Context, do func(*migrate.Migrate, *migrationDriver) error) error {
	src, err := iofs.New(migrations.FS, db.Engine)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	pool, err := db.writer()
	if err != nil {
		return err
	}
	drv := &migrationDriver{ctx: ctx, engine: db.Engine, pool: pool, log: db.faults.log}
	m, err := migrate.NewWithInstance("embedded", src, db.Engine, drv)
	if err != nil {
		return fmt.Errorf("prepare migrations: %w", err)
	}
	m.LockTimeout = 2 * maxMigration // begin has the limit
	err = do(m, drv)
	switch newest, e := newestVersion(db.Engine); {
	case e != nil:
		return e
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("migrate schema: %w", ctx.Err())
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

// The first migrations, from firstBaseline to lastBaseline, are baselines: each creates a whole system. No schema from
// before them was released. The last of those, unreleased, is upgraded to lastBaseline in one step, the others are
// refused (ADR 35).
const (
	unreleased    = 193
	firstBaseline = 200
	lastBaseline  = 207
)

func isOld(version int) bool { return version > 0 && version < firstBaseline && version != unreleased }

// oldSchema describes a database with a schema that isOld, for error messages.
func oldSchema(version int) string {
	return fmt.Sprintf("has schema %d, of another program or from before the first release of Linkwatch, and cannot be migrated: "+
		"first start the last program with schema %d, or set DATABASE_URL to a new database", version, unreleased)
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
	if isOld(have) {
		return fmt.Errorf("the database %s", oldSchema(have))
	}
	if have != want {
		return fmt.Errorf("schema version is %d, this program needs %d", have, want)
	}
	return nil
}

// schemaVersion returns the version of the schema, or database.NilVersion if there is none. It reads on the connection
// that migrates: others would keep statements of the old schema.
func (db *DB) schemaVersion(ctx context.Context) (have int, err error) {
	exists := `SELECT count(*) FROM sqlite_master WHERE name = 'schema_migrations'`
	if db.Engine == Postgres {
		exists = `SELECT count(*) FROM pg_class
			WHERE relname = 'schema_migrations' AND relnamespace = to_regnamespace(quote_ident(current_schema()))`
	}
	err = db.write.WithContext(ctx).Raw(exists).Scan(&have).Error
	if err == nil && have == 0 {
		return database.NilVersion, nil
	}
	if err == nil {
		err = db.write.WithContext(ctx).Raw(`SELECT COALESCE(MAX(version), -1) FROM schema_migrations`).Scan(&have).Error
	}
	if err != nil {
		return 0, fmt.Errorf("read schema version: %w", err)
	}
	return have, nil
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
