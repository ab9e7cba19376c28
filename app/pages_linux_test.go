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

// pagesOfFiles returns the kilobytes of mapped files in memory.
func pagesOfFiles(t *testing.T) (size int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(status), "RssFile:")
	if _, err := fmt.Sscan(line, &size); err != nil {
		t.Fatal(err)
	}
	return size
}
