// Package models opens the database and provides transactions, ids, time, paging and
// errors. The types, queries and rules of each system are in a package below it, and
// these packages do not import each other.
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
	preparedMax   = 256 // prepared statements cached per SQLite connection
	writeAttempts = 5   // attempts of a transaction that conflicts with others
)

// DB is an open database. On SQLite all writes share one connection, since the engine has one writer, and reads
// have a separate pool, which WAL mode allows (ADR 1). On PostgreSQL both are the same pool, and there are two
// more: see Urgent and Leases.
type DB struct {
	Engine string // SQLite or Postgres
	write  *gorm.DB
	read   *gorm.DB
	urgent *DB // see Urgent; may be nil
	leases *DB // see Leases; may be nil
	faults *faults
	small  *smallWrites // see WriteSmall

	pooled         bool   // PostgreSQL is behind a pooler that may not keep sessions
	perTransaction string // statement that begins each transaction then
}

// Urgent returns the same database with a few separate connections on PostgreSQL, for redirects: they must not
// wait while other transactions use all connections. Its transactions must not call OneAtATime. On SQLite it is db
// itself.
func (db *DB) Urgent() *DB { return cmp.Or(db.urgent, db) }

// Leases is like Urgent, but only for the lease of this instance, which must always be renewed in time.
func (db *DB) Leases() *DB { return cmp.Or(db.leases, db) }

// Open opens the database and checks that it responds. It does not change the schema: see Migrate. url is a file
// path, a file: or sqlite: URL, or a postgres: URL.
func Open(ctx context.Context, engine, url string, log *slog.Logger) (*DB, error) {
	db := &DB{Engine: engine, faults: &faults{log: log}, small: &smallWrites{}}
	var err error
	switch engine {
	case SQLite:
		err = db.openSQLite(ctx, url)
	case Postgres:
		err = db.openPostgres(ctx, url)
	default:
		err = fmt.Errorf("unknown engine %q", engine)
	}
	if err == nil {
		err = db.Ping(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s database: %w", engine, err), db.Close())
	}
	return db, nil
}

// gormConfig turns off GORM's prepared statements (PrepareStmt): with them, all queries wait for one that hangs
// while it is prepared. The connections of both drivers cache statements themselves.
func (db *DB) gormConfig() *gorm.Config {
	return &gorm.Config{
		SkipDefaultTransaction:   true, // Write is the transaction
		DisableNestedTransaction: true, // a savepoint would make FTS5 flush its pending changes
		TranslateError:           true,
		Logger:                   queryLog{logger.Discard, db.faults},
	}
}

// Read returns a handle for queries outside of a transaction. On PostgreSQL all queries of a request through one
// handle share the limit RequestQueries. In a check of Expect, the handle is the transaction.
func (db *DB) Read(ctx context.Context) *gorm.DB {
	if tx := inside(ctx); tx != nil {
		return tx.WithContext(ctx)
	}
	return db.read.WithContext(db.limitRead(ctx))
}

// Write runs fn in a transaction and commits it unless fn returns an error. After a deadlock or a serialization
// failure of PostgreSQL it runs fn again, so fn must have no other effects than changes of the database. In a
// request on PostgreSQL it is limited to RequestQueries. On SQLite it waits while another program writes to the
// file.
//
// Write fails if the SQLite file was moved or deleted, since the changes are then lost. It checks that before the
// commit, so that usually nothing is stored, and again afterward.
func (db *DB) Write(ctx context.Context, fn func(tx *gorm.DB) error) error {
	if err := Again(ctx); err != nil {
		return err
	}
	if db.limited(ctx) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, RequestQueries)
		defer cancel()
	}
	expect := expected(ctx)
	checked := expect.before(ctx, fn)
	inPlace := func(tx *gorm.DB) error {
		if db.perTransaction != "" {
			if err := tx.Exec(db.perTransaction).Error; err != nil {
				return fmt.Errorf("set the limits of a transaction: %w", err)
			}
		}
		if err := checked(tx); err != nil {
			return err
		}
		return db.faults.checkFile()
	}
	for attempt := 1; ; attempt++ {
		err := db.write.WithContext(ctx).Transaction(inPlace, expect.options(db.Engine)...)
		if err == nil {
			expect.met()
			err = db.faults.checkFile()
		}
		if err == nil || attempt == writeAttempts || !isRetryable(err) || ctx.Err() != nil {
			if errors.Is(err, errMoved) {
				db.truncateWAL()
			}
			return db.faults.note(err)
		}
	}
}

// truncateWAL checkpoints the write-ahead log into a database file that was moved. If the log kept its name, it would
// be applied to the next file with the old name and damage it.
func (db *DB) truncateWAL() {
	// Best effort: during reads part of the log stays, and Close does the rest.
	_ = db.write.Exec("PRAGMA wal_checkpoint(TRUNCATE)").Error
}

// SkipLocked returns the end of a SELECT that claims rows in Write, so that instances claim different rows. It is
// empty on SQLite, which has one writer.
func (db *DB) SkipLocked() string {
	if db.Engine == Postgres {
		return " FOR UPDATE SKIP LOCKED"
	}
	return ""
}

// FreshPlan runs a query of a transaction with a new plan on PostgreSQL. It is for queries that run while a table
// is filled: a plan made for the small table would be used until autovacuum updates the statistics.
func (db *DB) FreshPlan(tx *gorm.DB, query func() error) error {
	if db.Engine != Postgres {
		return query()
	}
	if err := tx.Exec("SET LOCAL plan_cache_mode = force_custom_plan").Error; err != nil {
		return fmt.Errorf("force a custom plan: %w", err)
	}
	if err := query(); err != nil {
		return err
	}
	if err := tx.Exec("SET LOCAL plan_cache_mode = auto").Error; err != nil { // foreign key checks use plans too
		return fmt.Errorf("reset the plan mode: %w", err)
	}
	return nil
}

// OneAtATime waits until no other transaction with the same key runs, on any instance. On SQLite it does nothing,
// as there is one writer. It is for short changes of many rows, which would deadlock otherwise. An instance that
// stops or loses its connection delays others by at most maxIdle.
func (db *DB) OneAtATime(tx *gorm.DB, key LockKey) error {
	if db.Engine != Postgres {
		return nil
	}
	if err := tx.Exec("SELECT pg_advisory_xact_lock(?)", int64(key)).Error; err != nil {
		return fmt.Errorf("wait for other writers: %w", err)
	}
	return nil
}

// LockKey is a key of OneAtATime. Each package declares its own keys, as numbers above 7_110_913_000 that no other
// package uses.
type LockKey int64

const lockMigrations LockKey = 7_110_913_000

// Ping returns an error unless the database responds, on both pools.
func (db *DB) Ping(ctx context.Context) error {
	for _, g := range []*gorm.DB{db.write, db.read} {
		if err := g.WithContext(ctx).Exec("SELECT 1").Error; err != nil {
			return fmt.Errorf("query the database: %w", err)
		}
	}
	return nil
}

// Close closes all pools. On SQLite it checkpoints the write-ahead log. It may be called on a DB that did not
// open.
func (db *DB) Close() error {
	err := closePool(db.read)
	for _, separate := range []*DB{db.urgent, db.leases} {
		if separate != nil {
			err = errors.Join(err, closePool(separate.write))
		}
	}
	if db.faults.moved.Load() {
		db.truncateWAL()
	}
	return errors.Join(err, closePool(db.write)) // closing the same pool twice is harmless
}

// closePool closes the pool of a handle, which may be nil or not open.
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
