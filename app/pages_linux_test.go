package app

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestReleasePages(t *testing.T) {
	before := pagesOfFiles(t)
	if err := releasePages(); err != nil {
		t.Fatal(err)
	}
	if after := pagesOfFiles(t); after > before/2 {
		t.Errorf("%d kB of files in memory, %d kB before", after, before)
	}
}

// pagesOfFiles returns the kilobytes of mapped files in memory. A file in a tmpfs counts as shared memory.
func pagesOfFiles(t *testing.T) (size int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"RssFile:", "RssShmem:"} {
		var part int
		_, line, _ := strings.Cut(string(status), name)
		if _, err := fmt.Sscan(line, &part); err != nil {
			t.Fatal(err)
		}
		size += part
	}
	return size
}
