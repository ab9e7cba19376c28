package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"linkwatch/config"
	"linkwatch/handlers/middleware"
)

// TestRequestLines checks that requests with usual and unusual paths are logged alike.
func TestRequestLines(t *testing.T) {
	cfg, err := config.Load(env(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/s/abcd", "/s/\u00fc\"\n"} {
		var fast, slow bytes.Buffer
		line := middleware.RequestLine{Ended: time.Now(), ID: "abcdefgh", Method: "GET", Path: path, Status: 302, Took: time.Second}
		h, ok := newLogger(cfg, &fast, &fast).Handler().(middleware.RequestLogger)
		if !ok {
			t.Fatal("the logger writes requests as records")
		}
		h.LogRequest(line)
		if err := slog.NewJSONHandler(&slow, nil).Handle(t.Context(), line.Record()); err != nil {
			t.Fatal(err)
		}
		if fast.String() != slow.String() || !json.Valid(fast.Bytes()) {
			t.Errorf("got %q, want %q", fast.String(), slow.String())
		}
	}
}

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
