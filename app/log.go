package app

import (
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"linkwatch/config"
)

const (
	// logRest is how long lines gather before more of them are written.
	logRest = 10 * time.Millisecond
	// maxLogged is how many bytes of lines wait before those who log do.
	maxLogged = 1 << 20
)

// logWriter writes lines to another writer from a goroutine of its own, so that
// a busy server makes one system call for many of them. A line that comes alone
// is written at once, and Close writes what is left: only a program that is
// killed loses any, and then those of the last moment. Safe for concurrent use.
type logWriter struct {
	to io.Writer

	mu     sync.Mutex
	room   sync.Cond // some of the lines were taken
	lines  []byte
	closed bool

	some, closing, done chan struct{}
}

func newLogWriter(to io.Writer) *logWriter {
	w := &logWriter{to: to, some: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{})}
	w.room.L = &w.mu
	go w.run()
	return w
}

// Write implements io.Writer. It does not fail: whoever logs could do nothing about it.
func (w *logWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.lines) > maxLogged && !w.closed {
		w.room.Wait()
	}
	if w.closed { // it comes late, but it comes
		w.mu.Unlock()
		<-w.done
		w.mu.Lock()
		return w.to.Write(line)
	}
	w.lines = append(w.lines, line...)
	select {
	case w.some <- struct{}{}:
	default:
	}
	return len(line), nil
}

// Close writes what is left and ends the goroutine. Lines that come after it
// are written by those who log them.
func (w *logWriter) Close() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.closing)
	}
	w.mu.Unlock()
	<-w.done
}

func (w *logWriter) run() {
	defer close(w.done)
	var lines []byte
	for open := true; open; {
		select {
		case <-w.some:
		case <-w.closing:
		}
		w.mu.Lock()
		lines, w.lines = w.lines, lines[:0]
		open = !w.closed
		w.room.Broadcast()
		w.mu.Unlock()
		_, _ = w.to.Write(lines) // see Write
		select {
		case <-time.After(logRest):
		case <-w.closing:
		}
	}
}

// newLogger writes to stdout as LOG_LEVEL and LOG_FORMAT say; by way of w.
func newLogger(cfg config.Config, stdout, w io.Writer) *slog.Logger {
	opts := &slog.HandlerOptions{Level: cfg.LogLevel}
	if cfg.LogFormatFor(isTerminal(stdout)) == config.LogText {
		return slog.New(slog.NewTextHandler(w, opts))
	}
	return slog.New(slog.NewJSONHandler(w, opts))
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
