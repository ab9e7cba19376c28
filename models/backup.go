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
	"syscall"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// The errors of a file that Backup leaves as it is.
var (
	ErrExists   = errors.New("file already exists")
	ErrNoFile   = errors.New("this is not a file")
	ErrDatabase = errors.New("this is a file of the database itself")
	ErrNoSpace  = errors.New("the disk has no space for the copy")
)

const (
	// backupStep is how many pages of 4 KiB are copied at a time. Between two steps
	// the copy rests as long as a step took, so that checks and requests get their turn.
	backupStep = 256
	// backupSync is after how many steps the copy is synced: a disk that has to take
	// a gibibyte at once would keep all writers waiting.
	backupSync = 16
)

// Backup writes a copy of an SQLite database to a file and returns its size. The
// copy is the database at one moment. Others read and write meanwhile; the
// write-ahead log grows by what they write until the copy is complete. The copy is
// made under another name beside the file (name.*.tmp), synced, examined by
// PRAGMA quick_check and then renamed, so the file is complete whenever it is there. Only its owner may read it.
//
// Backup returns ErrExists for a file that is there unless replace is true, and
// ErrDatabase or ErrNoFile for one that must not be replaced. It returns ErrNoSpace if the
// disk is full; then, as after any error, nothing of the copy is left.
func (db *DB) Backup(ctx context.Context, file string, replace bool) (size int64, err error) {
	if db.Engine != SQLite {
		return 0, errors.New("only SQLite can be backed up this way")
	}
	if err := db.checkPlace(file, replace); err != nil {
		return 0, err
	}
	readers, err := db.read.DB()
	if err != nil {
		return 0, err
	}
	tmp, _, err := copyBeside(ctx, readers, file, quickCheck)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp))
		}
	}()
	info, err := os.Stat(tmp)
	if err != nil {
		return 0, err
	}
	if err := db.checkPlace(file, replace); err != nil { // again: the copy took its time
		return 0, err
	}
	if err := os.Rename(tmp, file); err != nil {
		return 0, err
	}
	return info.Size(), SyncDir(filepath.Dir(file))
}

// checkPlace returns an error unless a backup may be written to a file.
func (db *DB) checkPlace(file string, replace bool) error {
	found, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !found.Mode().IsRegular():
		return ErrNoFile
	}
	for _, end := range []string{"", "-wal", "-shm", "-journal", ".key"} {
		if own, err := os.Stat(db.faults.file + end); err == nil && os.SameFile(found, own) {
			return ErrDatabase
		}
	}
	if !replace {
		return ErrExists
	}
	return nil
}

// copyBeside copies a database into a new file beside another one, syncs and
// examines it. It returns the name of the copy and the version of its schema.
func copyBeside(ctx context.Context, src *sql.DB, beside, examine string) (tmp string, schema int, err error) {
	f, err := os.CreateTemp(filepath.Dir(beside), filepath.Base(beside)+".*.tmp") // for its owner alone
	if err != nil {
		return "", 0, err
	}
	tmp = f.Name()
	if err = f.Close(); err == nil {
		err = copyDatabase(ctx, src, tmp)
	}
	if err == nil {
		err = syncFile(tmp)
	}
	if err == nil {
		schema, err = verify(ctx, tmp, examine)
	}
	if err != nil {
		if errors.Is(tryFile(beside), syscall.ENOSPC) { // SQLite says no more than that a write failed
			err = ErrNoSpace
		}
		// A journal is left beside the copy if it ended early.
		if e := os.Remove(tmp + "-journal"); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
		return "", 0, errors.Join(err, os.Remove(tmp))
	}
	return tmp, schema, nil
}

// copyDatabase copies a database, as it is at one moment, over an empty file.
func copyDatabase(ctx context.Context, src *sql.DB, to string) (err error) {
	conn, err := src.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	// The transaction keeps writers from changing what is copied, and the copy from starting over.
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	defer func() {
		_, rollback := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		err = errors.Join(err, rollback)
	}()
	var objects int
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&objects); err != nil { // it begins here
		return err
	}
	return conn.Raw(func(driver any) (err error) {
		b, err := driver.(interface{ Raw() *sqlite3.Conn }).Raw().BackupInit("main", sqliteURI(to, url.Values{"modeof": {to}}))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, b.Close()) }()
		return copyPages(ctx, b, to)
	})
}

func copyPages(ctx context.Context, b *sqlite3.Backup, to string) error {
	for step := 1; ; step++ {
		begun := time.Now()
		done, err := b.Step(backupStep)
		if err != nil || done {
			return err
		}
		if step%backupSync == 0 {
			if err := syncFile(to); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Since(begun)):
		}
	}
}

// How a copy is examined. Both read the whole file. quickCheck leaves out what takes most of the
// time, to look up each row in each index, since a server works beside it.
const (
	quickCheck = "PRAGMA quick_check(1)"
	fullCheck  = "PRAGMA integrity_check(1)"
)

// verify examines a file that is not written to: it must be a whole SQLite database
// of Linkwatch, with a schema that this program knows. It returns the version of
// the schema. The file is only read, and no file is made beside it.
func verify(ctx context.Context, file, examine string) (schema int, err error) {
	pool, err := openStill(ctx, file)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	if schema, err = knownSchema(ctx, pool); err != nil {
		return 0, err
	}
	var problem string
	err = pool.QueryRowContext(ctx, examine).Scan(&problem)
	if err == nil && problem != "ok" {
		err = fmt.Errorf("%w: %s", errDamaged, problem)
	}
	return schema, err
}

// openStill opens a database of Linkwatch that is not written to, for reading.
func openStill(ctx context.Context, file string) (*sql.DB, error) {
	if err := refuseForeign(ctx, file); err != nil {
		return nil, err
	}
	opts := url.Values{"mode": {"ro"}, "immutable": {"1"}}
	if log, err := os.Stat(file + "-wal"); err == nil && log.Size() > 0 {
		opts.Del("immutable")
	}
	return openPool(sqliteURI(file, opts))
}

// knownSchema returns the version of a database's schema if this program knows it.
func knownSchema(ctx context.Context, pool *sql.DB) (schema int, err error) {
	newest, err := newestVersion(SQLite)
	if err != nil {
		return 0, err
	}
	var tables int
	if err := pool.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE name = 'schema_migrations'").Scan(&tables); err != nil {
		return 0, err
	}
	if tables > 0 {
		err = pool.QueryRowContext(ctx, "SELECT coalesce(max(version), 0) FROM schema_migrations").Scan(&schema)
	}
	switch {
	case err != nil:
		return 0, err
	case schema == 0:
		return 0, errors.New("the database is empty")
	case isOld(schema):
		return 0, errors.New("the database " + oldSchema(schema))
	case schema > newest:
		return 0, newerSchema(schema, newest)
	}
	return schema, nil
}
