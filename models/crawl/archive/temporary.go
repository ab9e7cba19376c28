package archive

import (
	"errors"
	"io/fs"
	"time"
)

// maxTemporaryAge is the age at which temporary files are deleted. Writing one never takes that long.
const maxTemporaryAge = time.Hour

// DeleteTempFiles deletes temporary files older than an hour, which a killed process left in the folder. A bucket has none.
func (a *Archive) DeleteTempFiles() error {
	f, ok := a.store.(folder)
	if !ok {
		return nil
	}
	root, err := f.root()
	if err != nil {
		return newError(opDelete, err)
	}
	defer func() { _ = root.Close() }()
	names, err := fs.Glob(root.FS(), "*/*.zst.*.tmp")
	probes, _ := fs.Glob(root.FS(), probeKey+".*.tmp") // the only possible error is that of a pattern
	for _, name := range append(names, probes...) {
		info, e := root.Stat(name)
		if e == nil && time.Since(info.ModTime()) > maxTemporaryAge {
			e = root.Remove(name)
		}
		if e != nil && !errors.Is(e, fs.ErrNotExist) { // another instance also deletes them
			err = e
		}
	}
	if err != nil {
		return newError(opDelete, err)
	}
	return nil
}
