package models

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/gorm"
)

// sqlitePragmas are set on every connection. (WAL, which lets readers go on
// while one writes, is kept in the file, so the writer sets it.) synchronous
// NORMAL makes a commit survive the death of the process, though not of the
// machine's power in that second. See ADR 1.
var sqlitePragmas = []string{
	fmt.Sprintf("busy_timeout(%d)", busyPatience.Milliseconds()), // first: the others wait as well
	"synchronous(NORMAL)",
	"foreign_keys(ON)",
	"temp_store(MEMORY)",
}

func (db *DB) openSQLite(ctx context.Context, dsn string) error {
	if err := refuseForeign(ctx, SQLiteFile(dsn)); err != nil {
		return err
	}
	if err := makePrivate(dsn); err != nil {
		return err
	}
	// The writer's cache (16 MB) holds what a bulk store changes until it commits.
	writer, err := openPool(sqliteDSN(dsn, "journal_mode(WAL)", "cache_size(-16000)"))
	if err != nil {
		return err
	}
	writer.SetMaxOpenConns(1)
	if db.write, err = db.openGORM(writer); err != nil {
		return err
	}
	if err := awaitWAL(ctx, writer); err != nil {
		return err
	}

	readers, err := openPool(readerDSN(dsn))
	if err != nil {
		return err
	}
	// A reader is bound by the CPU, so more than a few only cost memory.
	n := max(4, runtime.NumCPU())
	readers.SetMaxOpenConns(n)
	readers.SetMaxIdleConns(n)
	readers.SetConnMaxIdleTime(5 * time.Minute) // a connection keeps all the memory that it ever needed
	if db.read, err = db.openGORM(readers); err != nil {
		return err
	}
	if err := checkForeign(ctx, readers); err != nil {
		return err
	}
	return db.faults.watch(SQLiteFile(dsn))
}

// makePrivate makes the file of a new database so that only its owner can read it: SQLite would go by the umask. The
// write-ahead log gets the same mode. A file that is there keeps its mode.
func makePrivate(dsn string) error {
	file, query := cutSQLite(dsn)
	opts, err := url.ParseQuery(query)
	if err != nil { // as sqliteDSN has it
		opts = nil
	}
	if file == "" || file == ":memory:" || opts.Has("vfs") || opts.Has("mode") && opts.Get("mode") != "rwc" {
		return nil // SQLite makes no file
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the operator names it
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return sqlite3.CANTOPEN // as SQLite says it
	}
	return f.Close()
}

func (db *DB) openGORM(pool *sql.DB) (*gorm.DB, error) {
	config := db.gormConfig()
	config.DisableAutomaticPing = true // Open pings, for no longer than its context lasts
	return gorm.Open(gormlite.OpenDB(pool), config)
}

// busyPatience is how long a statement waits for a file that another program
// writes to, unless its context ends before.
const busyPatience = 30 * time.Second

// awaitWAL connects, which turns WAL on in a new file. SQLite needs the file
// for itself then and does not wait for that as it does for other locks: the
// second of two programs tries again.
func awaitWAL(ctx context.Context, pool *sql.DB) error {
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if err := pool.PingContext(ctx); !isBusy(err) || time.Since(begun) > busyPatience {
			return err
		}
	}
}

func isBusy(err error) bool { return errors.Is(err, sqlite3.BUSY) }

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
	return sqliteDSN(dsn, "query_only(ON)") + "&mode=rw"
}

// sqliteDSN adds what every connection needs to the file's own options.
func sqliteDSN(dsn string, pragmas ...string) string {
	file, query := cutSQLite(dsn)
	opts, err := url.ParseQuery(query)
	if err != nil {
		opts = url.Values{}
	}
	opts.Set("_txlock", "immediate") // take the write lock first: no deadlock on upgrade
	opts.Set("_timefmt", "sqlite")   // leave text alone that looks like a time
	opts.Set("modeof", file)         // the write-ahead log is for those who may read the database
	for _, p := range append(sqlitePragmas, pragmas...) {
		opts.Add("_pragma", p)
	}
	return sqliteURI(file, opts)
}

func sqliteURI(file string, opts url.Values) string {
	query := strings.ReplaceAll(opts.Encode(), "+", "%20") // SQLite reads "+" as it is
	return "file:" + (&url.URL{Path: file}).EscapedPath() + "?" + query
}
