package secret

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"linkwatch/models"
)

// FromFile returns a Box with the key in a file, which contains 32 bytes as 64 hex digits. If the file does not exist,
// FromFile creates it with a random key and mode 0600. Processes that do this at the same time get the same key. A file
// that other users can access, or with other content, is an error and is never changed.
func FromFile(path string) (*Box, error) {
	text, err := readKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		key := make([]byte, keyLen)
		_, _ = rand.Read(key) // never fails
		if err = createKey(path, hex.EncodeToString(key)); err == nil {
			text, err = readKey(path)
		}
	}
	if err != nil {
		return nil, err
	}
	return FromText(text)
}

// Adopt copies the key file old to path. It does nothing if old does not exist or has the same key. If path has another
// key, it returns an error, because only one of them can decrypt the stored credentials.
func Adopt(path, old string) error {
	text, err := readKey(old)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	present, err := readKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = createKey(path, text); err == nil {
			present, err = readKey(path)
		}
	}
	if err == nil && present != text {
		err = fmt.Errorf("%s and %s are different keys: "+
			"move the one away that does not decrypt the stored credentials", old, path)
	}
	return err
}

// readKey returns the hex digits of a key file, in lower case.
func readKey(path string) (_ string, err error) {
	f, err := os.Open(path) //nolint:gosec // the operator sets the path
	if err != nil {
		return "", fmt.Errorf("read key file: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	switch found, err := f.Stat(); {
	case err != nil:
		return "", fmt.Errorf("read key file: %w", err)
	case !found.Mode().IsRegular():
		return "", fmt.Errorf("key file %s is not a regular file", path)
	case runtime.GOOS != "windows" && found.Mode().Perm()&0o077 != 0: // Windows has no permission bits
		return "", fmt.Errorf("key file %s is accessible to other users: run chmod 600 %s", path, path)
	}
	const digits = 2 * keyLen
	content, err := io.ReadAll(io.LimitReader(f, 2*digits)) // allows surrounding white space
	if err != nil {
		return "", fmt.Errorf("read key file: %w", err)
	}
	text := strings.ToLower(strings.TrimSpace(string(content)))
	if _, err := hex.DecodeString(text); err != nil || len(text) != digits || len(content) == 2*digits {
		return "", fmt.Errorf("key file %s does not contain %d hex digits: restore it from a backup, or delete it and enter all credentials again", path, digits)
	}
	return text, nil
}

// createKey creates a key file, unless another process does so first. It writes a temporary file and links it to path, so
// that no process reads an incomplete file.
func createKey(path, text string) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, filepath.Base(path)+".*.tmp") // with O_EXCL and mode 0600
	if err != nil {
		return fmt.Errorf("create key file %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	_, err = f.WriteString(text + "\n")
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Link(f.Name(), path)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return fmt.Errorf("create key file %s: %w", path, err)
	}
	if err := models.SyncDir(dir); err != nil {
		return fmt.Errorf("create key file: %w", err)
	}
	return nil
}
