//go:build unix

package models

import (
	"io/fs"
	"os"
	"syscall"
)

// chownLike sets the owner of a file to that of another one. It does nothing unless the process runs as root.
func chownLike(file string, like fs.FileInfo) error {
	owner, ok := like.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(file, int(owner.Uid), int(owner.Gid))
}
