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

// Errors of Backup about its file, which is left unchanged.
var (
	ErrExists   = errors.New("file already exists")
	ErrNoFile   = errors.New("not a regular file")
	ErrDatabase = errors.New("file belongs to the database itself")
	ErrNoSpace  = errors.New("no disk space for the copy")
)

const (
	// backupStep is the number of pages of 4 KiB copied in one step. After a step the
	// copy sleeps for the duration of that step, so that other work is not delayed.
	backupStep = 256
	// backupSync is the number of steps between syncs. Writing a gibibyte to disk at
	// once would block all writers.
	backupSync = 16
)

// Backup writes a copy of an SQLite database to a file and returns its size. The copy is a consistent snapshot.
// Reads and writes continue meanwhile; the write-ahead log grows until the copy is complete. The copy is written
// to name.*.tmp in the same folder, synced, checked with PRAGMA quick_check and renamed. So the file is complete
// as soon as it exists. Only its owner may read it.
//
// Backup returns ErrExists for an existing file unless replace is true. It returns ErrDatabase or ErrNoFile for
// a file that must not be replaced, and ErrNoSpace if the disk is full. After an error the copy is removed.
func (db *DB) Backup(ctx context.Context, file string, replace bool) (size int64, err error) {
	if db.Engine != SQLite {
		return 0, errors.New("only SQLite databases can be backed up this way")
	}
	if err := db.checkDestination(file, replace); err != nil {
		return 0, err
	}
	readers, err := db.read.DB()
	if err != nil {
		return 0, err
	}
	tmp, _, err := copyToTemp(ctx, readers, file, quickCheck)
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
	if err := db.checkDestination(file, replace); err != nil { // again: copying takes a while
		return 0, err
	}
	if err := os.Rename(tmp, file); err != nil {
		return 0, err
	}
	return info.Size(), SyncDir(filepath.Dir(file))
}

// checkDestination returns an error if a backup must not be written to file.
func (db *DB) checkDestination(file string, replace bool) error {
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
		for _, name := range []string{db.faults.file, RealFile(db.faults.file)} { // a link can have a key of its own
			if own, err := os.Stat(name + end); err == nil && os.SameFile(found, own) {
				return ErrDatabase
			}
		}
	}
	if !replace {
		return ErrExists
	}
	return nil
}

// copyToTemp copies a database into a new file in the folder of dest, then syncs and checks the copy. It returns the
// name of the copy and the version of its schema.
func copyToTemp(ctx context.Context, src *sql.DB, dest, examine string) (tmp string, schema int, err error) {
	f, err := os.CreateTemp(filepath.Dir(dest), filepath.Base(dest)+".*.tmp") // readable by its owner only
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
		if errors.Is(probeDisk(dest), syscall.ENOSPC) { // SQLite only reports a failed write
			err = ErrNoSpace
		}
		// A copy that ended early may leave a journal.
		if e := os.Remove(tmp + "-journal"); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
		return "", 0, errors.Join(err, os.Remove(tmp))
	}
	return tmp, schema, nil
}

// copyDatabase copies a snapshot of a database over an empty file.
func copyDatabase(ctx context.Context, src *sql.DB, to string) (err error) {
	conn, err := src.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	// In a transaction the copy reads one snapshot, and writes do not restart it.
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	defer func() {
		_, rollback := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		err = errors.Join(err, rollback)
	}()
	var objects int
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&objects); err != nil { // the transaction begins here
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
		start := time.Now()
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
		case <-time.After(time.Since(start)):
		}
	}
}

// The checks of a copy. Both read the whole file. quickCheck does not look up each row in
// each index, which takes most of the time, because it runs while a server works.
const (
	quickCheck = "PRAGMA quick_check(1)"
	fullCheck  = "PRAGMA integrity_check(1)"
)

// verify checks a file without changing it: it must be an intact SQLite database of Linkwatch, with a schema that
// this program supports. It returns the version of the schema.
func verify(ctx context.Context, file, examine string) (schema int, err error) {
	pool, err := openReadOnly(ctx, file)
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

// openReadOnly opens a database of Linkwatch for reading. No program may write to it meanwhile.
func openReadOnly(ctx context.Context, file string) (*sql.DB, error) {
	if err := refuseForeign(ctx, file); err != nil {
		return nil, err
	}
	opts := url.Values{"mode": {"ro"}, "immutable": {"1"}}
	if log, err := os.Stat(RealFile(file) + "-wal"); err == nil && log.Size() > 0 {
		opts.Del("immutable")
	}
	return openPool(sqliteURI(file, opts))
}

// knownSchema returns the version of a database's schema, or an error if this program does not support it.
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
