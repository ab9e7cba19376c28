package app

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// releasePages unmaps the pages of the program itself: code and constants of the start, which the kernel would count as
// memory in use and keep. Those that are still needed come back from the page cache, in microseconds.
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
