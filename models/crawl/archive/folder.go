package archive

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// folderMode is the mode of new folders. Files get the usual mode.
const folderMode = 0o700

// folder is a store in a folder. The name of a file is the key of its object. The folder is opened for each operation,
// because a mount may replace it.
type folder string

func openFolder(name string) (folder, error) {
	err := os.MkdirAll(name, folderMode)
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	if err != nil {
		return "", fmt.Errorf("archive: open folder: %w", err)
	}
	return folder(name), nil
}

// root opens the folder. Files outside it cannot be reached.
func (f folder) root() (*os.Root, error) {
	root, err := os.OpenRoot(string(f))
	if err == nil {
		return root, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoArchive
	}
	if _, ok := errors.AsType[syscall.Errno](err); !ok {
		return nil, syscall.ENOTDIR // the error of OpenRoot has no number
	}
	return nil, err
}

// put writes a temporary file in the same folder, so that renaming it is atomic.
func (f folder) put(ctx context.Context, key string, object []byte) error {
	if err := os.MkdirAll(string(f), folderMode); err != nil {
		return err
	}
	root, err := f.root()
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := root.MkdirAll(path.Dir(key), folderMode); err != nil {
		return err
	}
	temporary := key + "." + rand.Text() + ".tmp" // DeleteTempFiles knows the form
	file, err := root.OpenFile(temporary, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(object)
	if err = errors.Join(err, file.Close(), ctx.Err()); err == nil {
		err = root.Rename(temporary, key)
	}
	if err != nil {
		_ = root.Remove(temporary)
	}
	return err
}

func (f folder) open(_ context.Context, key string, start, length int64) (io.ReadCloser, error) {
	root, err := f.root()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	file, err := root.Open(key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrMissing
	}
	if err != nil {
		return nil, err
	}
	if length == 0 {
		length = MaxBody + 1
	}
	return filePart{io.NewSectionReader(file, start, length), file}, nil
}

// filePart is a part of a file or an object.
type filePart struct {
	io.Reader
	io.Closer
}

func (f folder) delete(_ context.Context, key string) error {
	root, err := f.root()
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := root.Remove(key); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (f folder) close() {}
