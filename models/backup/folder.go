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

// nameTime is the time in a name of a backup: linkwatch-20261124T031500Z.db.
const nameTime = "linkwatch-20060102T150405Z.db"

// leftover are the names that a backup has until it is complete (models.DB.Backup).
var leftover = regexp.MustCompile(`^linkwatch-\d{8}T\d{6}Z\.db\.\d+\.tmp(-journal)?$`)

// Folder is where backups are kept.
type Folder struct {
	Dir      string        // it must be there
	Interval time.Duration // between two backups
	Keep     int           // how many are kept, the newest ones
}

// File is one complete backup.
type File struct {
	Name string // in the folder
	At   time.Time
	Size int64 // bytes
}

// Files returns the backups, the newest first. What has another name than Add gives
// is no backup.
func (f Folder) Files() ([]File, error) {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return nil, readable(err)
	}
	var all []File
	for _, e := range entries {
		at, err := time.Parse(nameTime, e.Name())
		if err != nil || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) { // it was deleted meanwhile
			continue
		}
		if err != nil {
			return nil, readable(err)
		}
		all = append(all, File{e.Name(), at, info.Size()})
	}
	slices.SortFunc(all, func(a, b File) int { return b.At.Compare(a.At) })
	return all, nil
}

// Newest returns the newest backup; ok is false if there is none.
func (f Folder) Newest() (newest File, ok bool, err error) {
	all, err := f.Files()
	if err != nil || len(all) == 0 {
		return File{}, false, err
	}
	return all[0], true, nil
}

// Overdue reports whether there is no backup of the last interval, or the folder cannot be read.
func (f Folder) Overdue(now time.Time) bool {
	newest, ok, err := f.Newest()
	return err != nil || !ok || now.Sub(newest.At) >= f.Interval
}

// Late says whether a backup is older than two intervals, so that at least one is missing.
func (f Folder) Late(newest File, now time.Time) bool { return now.Sub(newest.At) > 2*f.Interval }

// Add makes a backup and deletes what was left by backups that a kill ended.
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

// Rotate deletes all backups but the newest Keep, and returns how many it deleted.
func (f Folder) Rotate() (deleted int, err error) {
	all, err := f.Files()
	if err != nil {
		return 0, err
	}
	for _, file := range all[min(f.Keep, len(all)):] {
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
			if err := os.Remove(filepath.Join(f.Dir, e.Name())); err != nil {
				return readable(err)
			}
		}
	}
	return nil
}

// readable says what is wrong with the folder without its path: users of the pages
// and those who get alerts read it.
func readable(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("the folder BACKUP_DIR is not there: create it, or mount its disk")
	case errors.Is(err, fs.ErrPermission):
		return errors.New("the folder BACKUP_DIR cannot be written: give it to the user of the server")
	case errors.Is(err, models.ErrNoSpace):
		return errors.New("the folder BACKUP_DIR has no space for a backup: free some, or set BACKUP_KEEP to fewer backups")
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("the folder BACKUP_DIR: %w", path.Err)
	}
	return err
}
