package models

import (
	"errors"
	"os"
	"runtime"
)

// SyncDir makes new and changed names in a folder survive a loss of power.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" { // where folders cannot be synced
		return nil
	}
	d, err := os.Open(dir) //nolint:gosec // the folder of a file that the operator names
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// syncFile makes what any process wrote to a file survive a loss of power.
func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0) //nolint:gosec // as in SyncDir
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
