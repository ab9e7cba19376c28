package modelstest

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

// Log keeps what is written to it, as by a logger. It is safe for concurrent use.
type Log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// NewLog returns a Log that a test shows if it fails.
func NewLog(t testing.TB) *Log {
	t.Helper()
	l := &Log{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("the log:\n" + l.String())
		}
	})
	return l
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String returns what was written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Count returns how often a text was written so far.
func (l *Log) Count(text string) int { return strings.Count(l.String(), text) }
