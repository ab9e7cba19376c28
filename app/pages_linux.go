package app

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// releasePages unmaps the code and constants of the program. The kernel counts mapped pages as memory in use, and most of
// these are needed only at the start. The others come back from the page cache, in microseconds.
func releasePages() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return err
	}
	defer func() { _ = maps.Close() }()
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		var (
			from, to uintptr
			access   string
		)
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s", &from, &to, &access); err != nil {
			return err
		}
		if strings.HasSuffix(lines.Text(), " "+program) && !strings.Contains(access, "w") { // pages that were written have no file to come back from
			if _, _, e := unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED); e != 0 {
				return e
			}
		}
	}
	return lines.Err()
}
