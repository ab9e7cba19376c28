package models

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"time"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
)

// sqlitePragmas are set on every connection. (WAL, which lets readers go on
// while one writes, is kept in the file, so the writer sets it.) synchronous
// NORMAL makes a commit survive the death of the process, though not of the
// machine's power in that second. See ADR 1.
var sqlitePragmas = []string{
	"synchronous(NORMAL)",
	"foreign_keys(ON)",
	"temp_store(MEMORY)",
}

func (db *DB) openSQLite(ctx context.Context, dsn string) error {
	if err := refuseForeign(ctx, SQLiteFile(dsn)); err != nil {
		return err
	}
	var err error
	// The writer's cache (16 MB) holds what a bulk store changes until it commits.
	writer := sqliteDSN(dsn, "busy_timeout(500)", "journal_mode(WAL)", "cache_size(-16000)") // see whenFree
	for range walAttempts {
		if db.write, err = gorm.Open(sqlite.Open(writer), db.gormConfig()); !isBusy(err) {
			break
		}
		if err := errors.Join(ctx.Err(), closePool(db.write)); err != nil {
			return err
		}
		time.Sleep(walPause)
	}
	if err != nil {
		return err
	}
	pool, err := db.write.DB()
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(1)

	if db.read, err = gorm.Open(sqlite.Open(readerDSN(dsn)), db.gormConfig()); err != nil {
		return err
	}
	if pool, err = db.read.DB(); err != nil {
		return err
	}
	// A reader is bound by the CPU, so more than a few only cost memory.
	n := max(4, runtime.NumCPU())
	pool.SetMaxOpenConns(n)
	pool.SetMaxIdleConns(n)
	if err := checkForeign(ctx, pool); err != nil {
		return err
	}
	return db.faults.watch(SQLiteFile(dsn))
}

// Turning WAL on in a new file needs it for oneself, and SQLite does not wait
// for that as it does for other locks: whoever comes second tries again.
const (
	walAttempts = 100
	walPause    = 20 * time.Millisecond
)

func isBusy(err error) bool {
	e, ok := errors.AsType[sqliteError](err)
	return ok && e.Code()&0xff == sqliteBusy
}

// sqliteError is an error with SQLite's own code.
type sqliteError interface {
	error
	Code() int
}

// freePatience is how long a transaction waits for a file that another program writes to.
const freePatience = 30 * time.Second

// whenFree begins something anew while another program writes to the SQLite
// file, for freePatience at most and no longer than ctx lasts. SQLite would
// wait by itself, but then nothing ends it before its time is over.
func whenFree(ctx context.Context, begin func() error) error {
	for begun := time.Now(); ; {
		err := begin()
		switch {
		case !isBusy(err) || time.Since(begun) > freePatience:
			return err
		case ctx.Err() != nil:
			return fmt.Errorf("%w, while another program writes: %w", ctx.Err(), err)
		}
	}
}

const sqliteBusy = 5 // SQLITE_BUSY; the upper bits of a code say more

// SQLiteFile is the path in a DATABASE_URL of SQLite.
func SQLiteFile(dsn string) string {
	file, _ := cutSQLite(dsn)
	return file
}

func cutSQLite(dsn string) (file, query string) {
	dsn = strings.TrimPrefix(strings.TrimPrefix(dsn, "sqlite://"), "sqlite:")
	file, query, _ = strings.Cut(strings.TrimPrefix(dsn, "file:"), "?")
	return file, query
}

// readerDSN is for the pool of readers, which makes no file: it is opened when there is one.
func readerDSN(dsn string) string {
	return sqliteDSN(dsn, "query_only(ON)", "busy_timeout(30000)") + "&mode=rw"
}

// sqliteDSN adds what every connection needs to the file's own options.
func sqliteDSN(dsn string, pragmas ...string) string {
	file, query := cutSQLite(dsn)
	opts, err := url.ParseQuery(query)
	if err != nil {
		opts = url.Values{}
	}
	opts.Set("_txlock", "immediate") // take the write lock first: no deadlock on upgrade
	for _, p := range append(sqlitePragmas, pragmas...) {
		opts.Add("_pragma", p)
	}
	return sqliteURI(file, opts)
}

func sqliteURI(file string, opts url.Values) string {
	return "file:" + (&url.URL{Path: file}).EscapedPath() + "?" + opts.Encode()
}
