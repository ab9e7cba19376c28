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
)

// The errors of a database that Restore leaves as it is.
var (
	ErrNotEmpty = errors.New("the database is not empty")
	ErrInUse    = errors.New("another program uses the database")
	ErrDangling = errors.New("the database is a symbolic link to a file that does not exist")
)

// Restored is what Restore did.
type Restored struct {
	Schema int    // version of the backup
	Kept   string // name of the file that was the database before; "" = there was none
}

// Restore puts the database in a backup in the place of an SQLite file. Of a symbolic link it replaces
// the file that the link leads to (ErrDangling if there is none). It examines
// the copy first, by PRAGMA integrity_check. If the file has content, it is replaced only if replace is true
// (else: ErrNotEmpty) and only if no program has it open (else: ErrInUse). It is kept as
// file.before-restore-<time>. The file is the old database or the new one at any
// moment, whenever the program is killed. No other program may be started on the
// file meanwhile. The backup may be a database with a write-ahead log that no
// program has open.
func Restore(ctx context.Context, backup, file string, replace bool) (r Restored, err error) {
	one, err := os.Stat(backup)
	if err != nil {
		return r, err
	}
	if !one.Mode().IsRegular() {
		return r, ErrNoFile
	}
	if two, err := os.Stat(file); err == nil && os.SameFile(one, two) {
		return r, ErrDatabase
	}
	if file, err = followLinks(file); err != nil {
		return r, err
	}
	src, err := openStill(ctx, backup)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	if _, err := knownSchema(ctx, src); err != nil { // before anything large is copied
		return r, err
	}
	full := hasContent(file)
	if full && !replace {
		return r, ErrNotEmpty
	}
	if full {
		unlock, err := lockWhole(ctx, file)
		if err != nil {
			if folder := tryFile(file); folder != nil && !errors.Is(err, ErrInUse) { // SQLite does not say that the folder is the cause
				return r, folder
			}
			return r, err
		}
		defer unlock()
	}
	tmp, schema, err := copyBeside(ctx, src, file, fullCheck)
	if err != nil {
		return r, err
	}
	r.Schema = schema
	if err = sameOwner(tmp, file); err == nil {
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

// followLinks returns the file that a path leads to through symbolic links. A path
// where there is nothing is returned as it is.
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

// lockWhole locks a database that no other program has open, until unlock. What is in
// its write-ahead log is in the file then, and no other file belongs to it. It is ErrInUse
// if a program has it open.
func lockWhole(ctx context.Context, file string) (unlock func(), err error) {
	if err := refuseForeign(ctx, file); err != nil {
		return nil, fmt.Errorf("the database that is to be replaced: %w", err)
	}
	opts := url.Values{"mode": {"rw"}, "_pragma": {"busy_timeout(0)", "locking_mode(EXCLUSIVE)"}}
	pool, err := openPool(sqliteURI(file, opts))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	if err := takeWhole(ctx, pool); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return func() { _ = pool.Close() }, nil
}

func takeWhole(ctx context.Context, pool *sql.DB) error {
	var mode string
	err := pool.QueryRowContext(ctx, "PRAGMA journal_mode=DELETE").Scan(&mode)
	if err == nil && mode == "delete" {
		_, err = pool.ExecContext(ctx, "BEGIN EXCLUSIVE; COMMIT") // the lock stays
	}
	switch {
	case isBusy(err), err == nil && mode != "delete":
		return ErrInUse
	case err != nil:
		return fmt.Errorf("the database that is to be replaced cannot be opened; stop the server, move the files of the database away, and try again: %w", err)
	}
	return nil
}

// sameOwner gives a new file the owner of the one that it replaces, or of its folder if there is none. The server may run
// as another user than the one who restores, and has to open it.
func sameOwner(tmp, file string) error {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Stat(filepath.Dir(file))
	}
	if err != nil {
		return err
	}
	return giveTo(tmp, info)
}

// keepOld gives what is in the place of a database a second name, and returns
// that. A write-ahead log without its database would be applied to the new one, so
// it is moved away.
func keepOld(file string, full bool) (kept string, err error) {
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
	// A second name, not another one: the first name stands for a database at any moment.
	if err := os.Link(file, aside); err != nil {
		return "", fmt.Errorf("this disk has no second names for files; move the files of the database away and try again: %w", err)
	}
	return aside, SyncDir(filepath.Dir(file))
}
