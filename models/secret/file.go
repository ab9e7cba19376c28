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

// FromFile makes a box with the key in a file, which holds 32 bytes as 64 hex digits.
// If there is no file, it is made with a random key, for its owner alone. Processes that
// do so at the same time get the same key. A file that others may read, or that holds
// something else, is refused and never changed.
func FromFile(path string) (*Box, error) {
	text, err := readKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeKey(path); err == nil {
			text, err = readKey(path)
		}
	}
	if err != nil {
		return nil, err
	}
	return FromText(text)
}

// readKey reads the key in a file, in lower case.
func readKey(path string) (_ string, err error) {
	f, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return "", fmt.Errorf("reading the key file: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	switch found, err := f.Stat(); {
	case err != nil:
		return "", fmt.Errorf("reading the key file: %w", err)
	case !found.Mode().IsRegular():
		return "", fmt.Errorf("the key file %s is not a file", path)
	case runtime.GOOS != "windows" && found.Mode().Perm()&0o077 != 0: // Windows has no such bits
		return "", fmt.Errorf("the key file %s can be read by others: run chmod 600 %s", path, path)
	}
	const digits = 2 * keyLen
	content, err := io.ReadAll(io.LimitReader(f, 2*digits)) // with white space around it
	if err != nil {
		return "", fmt.Errorf("reading the key file: %w", err)
	}
	text := strings.ToLower(strings.TrimSpace(string(content)))
	if _, err := hex.DecodeString(text); err != nil || len(text) != digits || len(content) == 2*digits {
		return "", fmt.Errorf("the key file %s does not hold %d hex digits: restore it from a backup, or delete it and enter all credentials again", path, digits)
	}
	return text, nil
}

// makeKey makes a key file, unless another process does so first. The file has its
// whole content when it gets its name, so none is ever read or left half written.
func makeKey(path string) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, filepath.Base(path)+".*.tmp") // with O_EXCL and mode 0600
	if err != nil {
		return fmt.Errorf("making the key file %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	key := make([]byte, keyLen)
	_, _ = rand.Read(key) // it never fails
	_, err = f.WriteString(hex.EncodeToString(key) + "\n")
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
		return fmt.Errorf("making the key file %s: %w", path, err)
	}
	if err := models.SyncDir(dir); err != nil {
		return fmt.Errorf("making the key file: %w", err)
	}
	return nil
}
