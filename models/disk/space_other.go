//go:build !linux && !darwin && !freebsd && !windows

package disk

import "errors"

// space is not supported on this system, so its disks are left out.
func space(string) (free, size uint64, err error) { return 0, 0, errors.ErrUnsupported }
