package archive

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// temporaryFor is how long a file may be written at most.
const temporaryFor = time.Hour

// DeleteTemporary deletes files that a program which died was writing to the folder more
// than an hour ago. A bucket has none.
func (a *Archive) DeleteTemporary() error {
	if a.folder == "" {
		return nil
	}
	root, err := os.OpenRoot(a.folder)
	if err != nil {
		return newError(opDelete, err)
	}
	defer func() { _ = root.Close() }()
	names, err := fs.Glob(root.FS(), "*/*.zst.*.tmp")
	for _, name := range names {
		info, e := root.Stat(name)
		if e == nil && time.Since(info.ModTime()) > temporaryFor {
			e = root.Remove(name)
		}
		if e != nil && !errors.Is(e, fs.ErrNotExist) { // another instance deletes them too
			err = e
		}
	}
	if err != nil {
		return newError(opDelete, err)
	}
	return nil
}
