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
	"time"

	"gorm.io/gorm"
)

// Errors of Restore. The database is not changed.
var (
	ErrNotEmpty = errors.New("the database is not empty")
	ErrInUse    = errors.New("another program uses the database")
	ErrDangling = errors.New("the database is a symbolic link to a missing file")
)

// Restored is the result of Restore.
type Restored struct {
	Schema int    // version of the backup
	Kept   string // new name of the previous database; "" = there was none
}

// Restore replaces an SQLite file with the database in a backup. If file is a symbolic link, it replaces the file
// to which the link points, or returns ErrDangling. It first checks a copy with PRAGMA integrity_check. A file
// with content is replaced only if replace is true (else ErrNotEmpty) and no program has it open (else ErrInUse).
// It is kept as file.before-restore-<time>. The replacement is atomic, even if the program is killed. No other
// program may open the file meanwhile. The backup may have a write-ahead log, but no program may have it open. prepare
// changes the copy before it replaces the file, in a transaction; nil = nothing. It may have any supported schema.
func Restore(ctx context.Context, backup, file string, replace bool, prepare func(tx *gorm.DB) error) (r Restored, err error) {
	source, err := os.Stat(backup)
	if err != nil {
		return r, err
	}
	if !source.Mode().IsRegular() {
		return r, ErrNoFile
	}
	if replaced, err := os.Stat(file); err == nil && os.SameFile(source, replaced) {
		return r, ErrDatabase
	}
	if file, err = followLinks(file); err != nil {
		return r, err
	}
	src, err := openReadOnly(ctx, backup)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	if _, err := knownSchema(ctx, src); err != nil { // before copying
		return r, err
	}
	full := hasContent(file)
	if full && !replace {
		return r, ErrNotEmpty
	}
	if full {
		unlock, err := lockExclusive(ctx, file)
		if err != nil {
			if folder := probeDisk(file); folder != nil && !errors.Is(err, ErrInUse) { // SQLite does not report a folder that is not writable
				return r, folder
			}
			return r, err
		}
		defer unlock()
	}
	tmp, schema, err := copyToTemp(ctx, src, file, fullCheck)
	if err != nil {
		return r, err
	}
	r.Schema = schema
	if prepare != nil {
		err = prepareCopy(ctx, tmp, prepare)
	}
	if err == nil {
		err = sameOwner(tmp, file)
	}
	if err == nil {
		r.Kept, err = keepOld(file, full)
	}
	if err == nil {
		err = os.Rename(tmp, file)
	}
	if err != nil {
		return r, errors.Join(err, os.Remove(tmp))
	}
	return r, SyncDir(filepath.Dir(file))
}

// prepareCopy changes a copy of a database in one transaction, without other files beside it.
func prepareCopy(ctx context.Context, tmp string, prepare func(tx *gorm.DB) error) (err error) {
	opts := url.Values{"mode": {"rw"}, "_timefmt": {"sqlite"}, "_pragma": {"locking_mode(EXCLUSIVE)", "journal_mode(MEMORY)", "foreign_keys(ON)"}}
	pool, err := openPool(sqliteURI(tmp, opts))
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(1)
	db := &DB{Engine: SQLite, faults: &faults{}}
	g, err := db.openGORM(pool)
	if err == nil {
		err = g.WithContext(ctx).Transaction(prepare)
	}
	if err = errors.Join(err, pool.Close()); err != nil {
		return fmt.Errorf("prepare the copy: %w", err)
	}
	return syncFile(tmp)
}

// followLinks resolves symbolic links. It returns a path without a file unchanged.
func followLinks(file string) (string, error) {
	target, err := filepath.EvalSymlinks(file)
	if !errors.Is(err, fs.ErrNotExist) {
		return target, err
	}
	if _, err := os.Lstat(file); err == nil {
		return "", ErrDangling
	}
	return file, nil
}

func hasContent(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Size() > 0
}

// lockExclusive locks a database exclusively until unlock is called. Its write-ahead log is then in the file. It
// returns ErrInUse if another program has the database open.
func lockExclusive(ctx context.Context, file string) (unlock func(), err error) {
	if err := refuseForeign(ctx, file); err != nil {
		return nil, fmt.Errorf("database to replace: %w", err)
	}
	opts := url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(0)", "locking_mode(EXCLUSIVE)"}}
	pool, err := openPool(sqliteURI(file, opts))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	if err := acquireExclusive(ctx, pool); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return func() { _ = pool.Close() }, nil
}

func acquireExclusive(ctx context.Context, pool *sql.DB) error {
	var mode string
	err := pool.QueryRowContext(ctx, "PRAGMA journal_mode=DELETE").Scan(&mode)
	if err == nil && mode == "delete" {
		_, err = pool.ExecContext(ctx, "BEGIN EXCLUSIVE; COMMIT") // the lock stays
	}
	switch {
	case isBusy(err), err == nil && mode != "delete":
		return ErrInUse
	case err != nil:
		return fmt.Errorf("open the database to replace: %w; stop the server, move the database files away and try again", err)
	}
	return nil
}

// sameOwner gives a new file the owner of the file that it replaces, or else of its folder. The server may run as
// another user than the restore and must be able to open it.
func sameOwner(tmp, file string) error {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Stat(filepath.Dir(file))
	}
	if err != nil {
		return err
	}
	return chownLike(tmp, info)
}

// keepOld gives the previous database a second name and returns it. A write-ahead log without its database would
// be applied to the new one, so it is moved away.
func keepOld(file string, full bool) (kept string, err error) {
	_ = restrict(file) // files of another user keep their mode
	aside := file + ".before-restore-" + time.Now().UTC().Format("20060102T150405.000Z")
	if err := os.Remove(file + "-shm"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if !full {
		if err := os.Rename(file+"-wal", aside+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		return "", nil
	}
	// A link, not a rename: the first name must always refer to a database.
	if err := os.Link(file, aside); err != nil {
		return "", fmt.Errorf("keep the previous database: %w; move the database files away and try again", err)
	}
	return aside, SyncDir(filepath.Dir(file))
}
