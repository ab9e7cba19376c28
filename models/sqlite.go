package models

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/gorm"
)

// sqlitePragmas are set on every connection. WAL mode is stored in the file, so only the writer sets it. See ADR
// 1.
var sqlitePragmas = []string{
	fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), // first: setting the others may wait too
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
	db.protect(dsn) // before others can lock them
	// The writer's cache (8 MB) holds the changes of a bulk write until the commit. Twice the size saves 1 to 2% of the
	// CPU time of an import. The cache fills over time and is never returned. A checkpoint every 4,000 pages (16 MB)
	// writes a page that changes often once instead of four times; it saves 5% of the CPU time of a check.
	writer, err := openPool(sqliteDSN(dsn, "journal_mode(WAL)", "cache_size(-8000)", "wal_autocheckpoint(4000)"))
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
	// Readers are CPU-bound, so more of them only cost memory.
	n := max(4, runtime.NumCPU())
	readers.SetMaxOpenConns(n)
	readers.SetMaxIdleConns(n)
	readers.SetConnMaxIdleTime(5 * time.Minute) // a connection never returns memory
	if db.read, err = db.openGORM(readers); err != nil {
		return err
	}
	if err := checkForeign(ctx, readers); err != nil {
		return err
	}
	db.protect(dsn) // the files that reading has created
	return db.faults.watch(SQLiteFile(dsn))
}

// makePrivate creates the file of a new database with mode 0600; SQLite would use the umask.
func makePrivate(dsn string) error {
	file, mode := diskFile(dsn)
	if file == "" || mode != "" && mode != "rwc" {
		return nil // SQLite creates no file
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the operator names it
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return sqlite3.CANTOPEN // as SQLite reports it
	}
	return f.Close()
}

// protect calls restrict for the files of the database. After an error, which another owner of the files causes, the
// database still works.
func (db *DB) protect(dsn string) {
	file, _ := diskFile(dsn)
	if file == "" {
		return
	}
	if err := restrict(file); err != nil {
		db.faults.log.Warn("database files not restricted to their owner", "error", err)
	}
}

// restrict gives all files of a database mode 0600 and its owner. Otherwise another user of the machine could read them,
// or block all writes with a lock on the index of the write-ahead log (-shm). The driver gives that file the mode of the
// umask, which the program sets when it starts. An older or killed program may have left wider modes.
func restrict(file string) error {
	file = RealFile(file) // the other files are beside it
	var errs []error
	database, err := os.Stat(file)
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		info, missing := os.Lstat(file + end)
		if missing != nil || !info.Mode().IsRegular() {
			continue
		}
		if info.Mode().Perm()&0o077 != 0 {
			errs = append(errs, os.Chmod(file+end, 0o600))
		}
		if err == nil && end != "" {
			errs = append(errs, chownLike(file+end, database))
		}
	}
	return errors.Join(errs...)
}

func (db *DB) openGORM(pool *sql.DB) (*gorm.DB, error) {
	config := db.gormConfig()
	config.DisableAutomaticPing = true // Open pings, bounded by its context
	return gorm.Open(gormlite.OpenDB(pool), config)
}

// busyTimeout is how long a statement waits while another program writes to the file, unless its context ends
// first.
const busyTimeout = 30 * time.Second

// awaitWAL connects, which enables WAL in a new file. SQLite needs exclusive access for that and does not wait for
// it, so this retries.
func awaitWAL(ctx context.Context, pool *sql.DB) error {
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if err := pool.PingContext(ctx); !isBusy(err) || time.Since(start) > busyTimeout {
			return err
		}
	}
}

func isBusy(err error) bool { return errors.Is(err, sqlite3.BUSY) }

// SQLiteFile returns the path in an SQLite DATABASE_URL.
func SQLiteFile(dsn string) string {
	file, _ := cutSQLite(dsn)
	return file
}

// diskFile returns the path in an SQLite DATABASE_URL and its mode, such as "rw". The path is empty if the database is
// not in a file of this system.
func diskFile(dsn string) (file, mode string) {
	file, query := cutSQLite(dsn)
	opts, err := url.ParseQuery(query)
	if err != nil { // as in sqliteDSN
		opts = nil
	}
	if file == ":memory:" || opts.Has("vfs") || opts.Get("mode") == "memory" {
		return "", ""
	}
	return file, opts.Get("mode")
}

// cutSQLite splits an SQLite DATABASE_URL into path and query. Only a URL has a query. The path is taken as it is,
// without escapes.
func cutSQLite(dsn string) (file, query string) {
	short := strings.TrimPrefix(strings.TrimPrefix(dsn, "sqlite://"), "sqlite:")
	rest := strings.TrimPrefix(short, "file:")
	if rest == dsn { // a file name
		return dsn, ""
	}
	file, query, _ = strings.Cut(rest, "?")
	return file, query
}

// InMemory reports whether an SQLite DATABASE_URL is a database in memory.
func InMemory(dsn string) bool {
	file, query := cutSQLite(dsn)
	opts, err := url.ParseQuery(query)
	if err != nil { // as in sqliteDSN
		opts = nil
	}
	return file == "" || file == ":memory:" || opts.Get("mode") == "memory" || opts.Get("vfs") == "memdb"
}

// RealFile returns the file to which a symbolic link points, or else the name itself, also of a link to a missing file.
// SQLite has its other files beside the real file.
func RealFile(file string) string {
	if info, err := os.Lstat(file); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return file
	}
	if target, err := filepath.EvalSymlinks(file); err == nil {
		return target
	}
	return file
}

// readerDSN returns the URI for the pool of readers, which never creates a file.
func readerDSN(dsn string) string {
	return sqliteDSN(dsn, "query_only(ON)") + "&mode=rw"
}

// sqliteDSN adds the settings of all connections to the file's own options.
func sqliteDSN(dsn string, pragmas ...string) string {
	file, query := cutSQLite(dsn)
	opts, err := url.ParseQuery(query)
	if err != nil {
		opts = url.Values{}
	}
	opts.Set("_txlock", "immediate") // take the write lock at the start, so that upgrading it cannot deadlock
	opts.Set("_timefmt", "sqlite")   // do not convert text that looks like a time
	opts.Set("modeof", file)         // the write-ahead log gets the mode of the database
	for _, p := range append(sqlitePragmas, pragmas...) {
		opts.Add("_pragma", p)
	}
	return sqliteURI(file, opts)
}

func sqliteURI(file string, opts url.Values) string {
	query := strings.ReplaceAll(opts.Encode(), "+", "%20") // SQLite does not decode "+"
	return "file:" + (&url.URL{Path: file}).EscapedPath() + "?" + query
}
