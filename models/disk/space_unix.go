//go:build linux || darwin || freebsd

package disk

import "golang.org/x/sys/unix"

// space returns the free space and the size of the disk of a folder in bytes.
func space(folder string) (free, size uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return 0, 0, err
	}
	block := uint64(s.Bsize)
	return uint64(max(0, int64(s.Bavail))) * block, s.Blocks * block, nil
}
