package modelstest

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

// Log is a buffer for the output of a logger. It is safe for concurrent use.
type Log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// NewLog returns a Log that is shown if the test fails.
func NewLog(t testing.TB) *Log {
	t.Helper()
	l := &Log{}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("log:\n" + l.String())
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

// String returns everything written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Count returns how often text occurs in the log.
func (l *Log) Count(text string) int { return strings.Count(l.String(), text) }
