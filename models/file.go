package models

import (
	"errors"
	"os"
	"runtime"
)

// SyncDir makes new and renamed files in a folder durable.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" { // folders cannot be synced there
		return nil
	}
	d, err := os.Open(dir) //nolint:gosec // the folder of a file that the operator names
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// syncFile makes all writes to a file durable.
func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0) //nolint:gosec // as in SyncDir
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
