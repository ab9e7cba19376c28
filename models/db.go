// Package models is the store: opening it, transactions, ids, time, paging and
// errors. Each system's types, queries and rules live in a package below it,
// and no such package knows another.
package models

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// The engines.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
)

const (
	preparedMax   = 256 // prepared statements kept per connection of SQLite
	writeAttempts = 5   // tries of a transaction that lost a race
)

// DB is the open store. On SQLite writes share one connection, since the
// engine has one writer, and reads have a pool of their own, which WAL mode
// lets them use meanwhile (ADR 1). On PostgreSQL both are the same pool, and there
// are two more: see Urgent and Leases.
type DB struct {
	Engine string // SQLite or Postgres
	write  *gorm.DB
	read   *gorm.DB
	urgent *DB // see Urgent; nil: there is none
	leases *DB // see Leases; nil: there is none
	faults *faults
}

// Urgent is the same database by a few connections of its own on PostgreSQL, for
// redirects: they must not wait while other transactions use all connections. Its
// transactions must not wait for OneAtATime. On SQLite it is db itself.
func (db *DB) Urgent() *DB { return cmp.Or(db.urgent, db) }

// Leases is as Urgent, for nothing but the lease of this instance: whatever waits, it
// must be renewed in time.
func (db *DB) Leases() *DB { return cmp.Or(db.leases, db) }

// Open opens the store and proves that it answers. It changes no schema: see
// Migrate. url is a file path, a file: or sqlite: URL, or a postgres: URL.
func Open(ctx context.Context, engine, url string, log *slog.Logger) (*DB, error) {
	db := &DB{Engine: engine, faults: &faults{log: log}}
	var err error
	switch engine {
	case SQLite:
		err = db.openSQLite(ctx, url)
	case Postgres:
		err = db.openPostgres(url)
	default:
		err = fmt.Errorf("unknown engine %q", engine)
	}
	if err == nil {
		err = db.Ping(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the %s database: %w", engine, err), db.Close())
	}
	return db, nil
}

// gormConfig leaves prepared statements to the connections of both drivers, which
// keep those they used last. GORM's own (PrepareStmt) would make all queries wait
// for one that hangs while it is prepared.
func (db *DB) gormConfig() *gorm.Config {
	return &gorm.Config{
		SkipDefaultTransaction:   true, // Write is the transaction
		DisableNestedTransaction: true, // a savepoint would make FTS5 write out what it gathered
		TranslateError:           true,
		Logger:                   queryLog{logger.Discard, db.faults},
	}
}

// Read is a handle for queries outside of any transaction. All queries of a
// request through one handle have RequestQueries together on PostgreSQL.
func (db *DB) Read(ctx context.Context) *gorm.DB { return db.read.WithContext(db.limitRead(ctx)) }

// Write runs fn in one transaction on the writer and commits it unless fn
// fails. A transaction that lost a race with another (a deadlock, or a
// serialization failure of PostgreSQL) is run again from its start, so fn must
// not change anything but the database before it returns. In a request it is
// limited to RequestQueries on PostgreSQL. On SQLite it waits while another
// program writes to the file.
//
// A commit counts only if the SQLite file is still in its place afterwards:
// what was written to a deleted file is lost. Before the commit the file is
// checked as well, so that what fails is not stored, as a rule.
func (db *DB) Write(ctx context.Context, fn func(tx *gorm.DB) error) error {
	if db.limited(ctx) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, RequestQueries)
		defer cancel()
	}
	inPlace := func(tx *gorm.DB) error {
		if err := fn(tx); err != nil {
			return err
		}
		return db.faults.checkFile()
	}
	for attempt := 1; ; attempt++ {
		err := db.write.WithContext(ctx).Transaction(inPlace)
		if err == nil {
			err = db.faults.checkFile()
		}
		if err == nil || attempt == writeAttempts || !lostRace(err) || ctx.Err() != nil {
			if errors.Is(err, errMoved) {
				db.emptyLog()
			}
			return db.faults.note(err)
		}
	}
}

// emptyLog moves what is in the write-ahead log of a file that was moved into
// that file. Left under the old name, the log would be applied to the file that
// takes its place, and damage it.
func (db *DB) emptyLog() {
	// Best effort: while somebody reads, part of it stays, and Close does the rest.
	_ = db.write.Exec("PRAGMA wal_checkpoint(TRUNCATE)").Error
}

// SkipLocked is what a SELECT in Write ends with when it claims rows that
// other instances may be claiming too. SQLite needs nothing: it has one writer.
func (db *DB) SkipLocked() string {
	if db.Engine == Postgres {
		return " FOR UPDATE SKIP LOCKED"
	}
	return ""
}

// FreshPlan makes PostgreSQL plan a query of a transaction by how large its tables are now.
// It is for a query that runs while a table is filled: a plan of when the table was small
// reads all of it, and is kept until autovacuum has counted the rows.
func (db *DB) FreshPlan(tx *gorm.DB, query func() error) error {
	if db.Engine != Postgres {
		return query()
	}
	if err := tx.Exec("SET LOCAL plan_cache_mode = force_custom_plan").Error; err != nil {
		return fmt.Errorf("asking for a fresh plan: %w", err)
	}
	if err := query(); err != nil {
		return err
	}
	if err := tx.Exec("SET LOCAL plan_cache_mode = auto").Error; err != nil { // the checks of foreign keys have plans, too
		return fmt.Errorf("keeping plans: %w", err)
	}
	return nil
}

// OneAtATime makes a transaction wait until no other one that was begun with
// the same key runs, on any instance. SQLite's one writer is that already. It
// is for short changes of many rows, which would meet in deadlocks otherwise. An
// instance that is stopped or cut off holds up the others for maxIdle at most.
func (db *DB) OneAtATime(tx *gorm.DB, key LockKey) error {
	if db.Engine != Postgres {
		return nil
	}
	if err := tx.Exec("SELECT pg_advisory_xact_lock(?)", int64(key)).Error; err != nil {
		return fmt.Errorf("waiting for the other writers: %w", err)
	}
	return nil
}

// LockKey names what is done one at a time. Each package declares its own keys.
// They differ from each other and from those of other programs in the database:
// take a number after 7_110_913_000 that no other package has.
type LockKey int64

const lockMigrations LockKey = 7_110_913_000

// Ping says whether the database answers, on both pools.
func (db *DB) Ping(ctx context.Context) error {
	for _, g := range []*gorm.DB{db.write, db.read} {
		if err := g.WithContext(ctx).Exec("SELECT 1").Error; err != nil {
			return fmt.Errorf("asking the database: %w", err)
		}
	}
	return nil
}

// Close closes both pools. On SQLite the write-ahead log is folded into the
// file. It may be called on a DB that did not open.
func (db *DB) Close() error {
	err := closePool(db.read)
	for _, apart := range []*DB{db.urgent, db.leases} {
		if apart != nil {
			err = errors.Join(err, closePool(apart.write))
		}
	}
	if db.faults.moved.Load() {
		db.emptyLog()
	}
	return errors.Join(err, closePool(db.write)) // closing the same pool twice is harmless
}

// closePool closes what a handle is over, also of one that did not open.
func closePool(g *gorm.DB) error {
	if g == nil || g.ConnPool == nil {
		return nil
	}
	pool, err := g.DB()
	if err != nil {
		return err
	}
	return pool.Close()
}

func (db *DB) writer() (*sql.DB, error) { return db.write.DB() }
