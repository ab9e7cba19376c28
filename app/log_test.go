package app

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// slowWriter blocks until unblock is closed.
type slowWriter struct {
	unblock chan struct{}
	mu      sync.Mutex
	buf     bytes.Buffer
	writes  int
}

func (w *slowWriter) Write(p []byte) (int, error) {
	<-w.unblock
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	return w.buf.Write(p)
}

// TestLogLosesNothing checks that all lines are written whole, in order per goroutine, including those around Close.
func TestLogLosesNothing(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	slow := &slowWriter{unblock: make(chan struct{})}
	w := newLogWriter(slow)
	const writers, lines = 8, 5_000 // more than maxBuffered, so that Write blocks
	long := strings.Repeat("x", 60)
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			for j := range lines {
				if _, err := fmt.Fprintf(w, "%d %d %s\n", i, j, long); err != nil {
					t.Error(err)
				}
			}
		})
	}
	close(slow.unblock)
	group.Wait()
	w.Close()
	w.Close()
	if _, err := w.Write([]byte("late\n")); err != nil {
		t.Error(err)
	}
	got := strings.Split(slow.buf.String(), "\n")
	if len(got) != writers*lines+2 || got[writers*lines] != "late" {
		t.Fatalf("got %d lines, last %q", len(got), got[len(got)-2])
	}
	var next [writers]int
	for _, line := range got[:writers*lines] {
		var i, j int
		var rest string
		if _, err := fmt.Sscanf(line, "%d %d %s", &i, &j, &rest); err != nil || rest != long || j != next[i] {
			t.Fatalf("%q: %v, want number %d", line, err, next[i])
		}
		next[i]++
	}
	if slow.writes >= writers*lines {
		t.Errorf("got %d writes for %d lines", slow.writes, writers*lines)
	}
}
