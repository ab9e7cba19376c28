// Package backup keeps the scheduled backups of an SQLite database in a folder.
package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"linkwatch/models"
)

// Job is the id of the scheduled job that makes the backups.
const Job = "backup"

// nameTime is the time layout of the names of backups: linkwatch-20261124T031500Z.db.
const nameTime = "linkwatch-20060102T150405Z.db"

// clockSlack is how far in the future the time in a name may be, because clocks are sometimes set back a little.
const clockSlack = time.Minute

// leftover matches the names of incomplete backups (models.DB.Backup).
var leftover = regexp.MustCompile(`^linkwatch-\d{8}T\d{6}Z\.db\.\d+\.tmp(-journal)?$`)

// Folder is a folder of backups, which only one server uses.
type Folder struct {
	Dir      string        // must exist
	Database string        // file of the server's own database, which is never a backup; "" = none
	Interval time.Duration // between two backups
	Keep     int           // number of newest backups to keep
}

// File is one complete backup.
type File struct {
	Name string // in the folder
	At   time.Time
	Size int64 // bytes
}

// Files returns the backups, newest first. A file is a backup if it has a name of the form
// that Add uses, is not the database, and is not from the future.
func (f Folder) Files(now time.Time) ([]File, error) {
	backups, _, err := f.list(now)
	return backups, err
}

// Future returns the files with names of backups that are later than now, the latest
// first. They do not count as backups: the clock was wrong then, or is wrong now.
func (f Folder) Future(now time.Time) ([]File, error) {
	_, future, err := f.list(now)
	return future, err
}

func (f Folder) list(now time.Time) (backups, future []File, err error) {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return nil, nil, readable(err)
	}
	for _, e := range entries {
		at, err := time.Parse(nameTime, e.Name())
		if err != nil || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) { // deleted in the meantime
			continue
		}
		if err != nil {
			return nil, nil, readable(err)
		}
		switch file := (File{e.Name(), at, info.Size()}); {
		case f.isDatabase(info):
		case at.After(now.Add(clockSlack)):
			future = append(future, file)
		default:
			backups = append(backups, file)
		}
	}
	for _, all := range [][]File{backups, future} {
		slices.SortFunc(all, func(a, b File) int { return b.At.Compare(a.At) })
	}
	return backups, future, nil
}

// isDatabase reports whether a file is the server's own database, under any name.
func (f Folder) isDatabase(info fs.FileInfo) bool {
	own, err := os.Stat(f.Database)
	return err == nil && os.SameFile(own, info)
}

// CheckDatabase returns an error if the database has the name of a backup in this folder.
// The database need not exist.
func (f Folder) CheckDatabase() error {
	file := f.Database
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	if _, err := time.Parse(nameTime, filepath.Base(file)); err != nil {
		return nil //nolint:nilerr // it is not the name of a backup
	}
	parent, err := os.Stat(filepath.Dir(file))
	if err != nil {
		return nil //nolint:nilerr // opening the database reports a better error
	}
	if own, err := os.Stat(f.Dir); err == nil && os.SameFile(own, parent) {
		return errors.New("DATABASE_URL names a file in BACKUP_DIR that has the name of a backup: rename the database, or set BACKUP_DIR to another folder")
	}
	return nil
}

// Newest returns the newest backup; ok is false if there is none.
func (f Folder) Newest(now time.Time) (newest File, ok bool, err error) {
	all, err := f.Files(now)
	if err != nil || len(all) == 0 {
		return File{}, false, err
	}
	return all[0], true, nil
}

// Overdue reports whether there is no backup within the last interval, or the folder cannot be read.
func (f Folder) Overdue(now time.Time) bool {
	newest, ok, err := f.Newest(now)
	return err != nil || !ok || now.Sub(newest.At) >= f.Interval
}

// Late reports whether a backup is older than two intervals, which means that at least one is missing.
func (f Folder) Late(newest File, now time.Time) bool { return now.Sub(newest.At) > 2*f.Interval }

// Add creates a backup. It first deletes incomplete backups of a process that was killed.
func (f Folder) Add(ctx context.Context, db *models.DB, now time.Time) (File, error) {
	if err := f.clear(); err != nil {
		return File{}, err
	}
	name := now.UTC().Format(nameTime)
	size, err := db.Backup(ctx, filepath.Join(f.Dir, name), false)
	if err != nil {
		return File{}, readable(err)
	}
	return File{name, now, size}, nil
}

// Rotate deletes all backups except the newest Keep and returns the number of deleted ones.
// made, the backup that was just created, always stays, even if the clock was set back.
func (f Folder) Rotate(made File, now time.Time) (deleted int, err error) {
	all, err := f.Files(now)
	if err != nil {
		return 0, err
	}
	older := slices.DeleteFunc(all, func(file File) bool { return file.Name == made.Name })
	for _, file := range older[min(f.Keep-1, len(older)):] {
		if err := os.Remove(filepath.Join(f.Dir, file.Name)); err != nil {
			return deleted, readable(err)
		}
		deleted++
	}
	return deleted, nil
}

func (f Folder) clear() error {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return readable(err)
	}
	for _, e := range entries {
		if e.Type().IsRegular() && leftover.MatchString(e.Name()) {
			if info, err := e.Info(); err == nil && f.isDatabase(info) {
				continue
			}
			if err := os.Remove(filepath.Join(f.Dir, e.Name())); err != nil {
				return readable(err)
			}
		}
	}
	return nil
}

// readable converts an error of the folder into a text without paths, for pages and alerts.
func readable(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("the folder BACKUP_DIR does not exist: create it, or mount its disk")
	case errors.Is(err, fs.ErrPermission):
		return errors.New("the folder BACKUP_DIR is not writable: change its owner to the user of the server")
	case errors.Is(err, models.ErrNoSpace):
		return errors.New("the folder BACKUP_DIR has no space for a backup: free disk space, or set BACKUP_KEEP to fewer backups")
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("the folder BACKUP_DIR: %w", path.Err)
	}
	return err
}
