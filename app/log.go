package app

import (
	"context"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"linkwatch/config"
	"linkwatch/handlers/middleware"
)

const (
	// flushInterval is the shortest time between two writes.
	flushInterval = 10 * time.Millisecond
	// maxBuffered is the number of buffered bytes above which Write blocks.
	maxBuffered = 1 << 20
)

// logWriter writes lines to another writer from its own goroutine, so that a busy server makes one system call for many lines.
// A single line is written at once. Close writes the rest: only a killed program loses lines, those of the last flushInterval.
// It is safe for concurrent use.
type logWriter struct {
	out io.Writer

	mu     sync.Mutex
	space  sync.Cond // signaled when the buffer was emptied
	lines  []byte
	closed bool

	pending, closing, done chan struct{}
}

func newLogWriter(out io.Writer) *logWriter {
	w := &logWriter{out: out, pending: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{})}
	w.space.L = &w.mu
	go w.run()
	return w
}

// Write implements io.Writer. It does not fail, because callers of a logger cannot handle an error.
func (w *logWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.lines) > maxBuffered && !w.closed {
		w.space.Wait()
	}
	if w.closed {
		w.mu.Unlock()
		<-w.done
		w.mu.Lock()
		return w.out.Write(line)
	}
	w.lines = append(w.lines, line...)
	select {
	case w.pending <- struct{}{}:
	default:
	}
	return len(line), nil
}

// Close writes buffered lines and ends the goroutine. Later calls of Write write to the underlying writer.
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
		case <-w.pending:
		case <-w.closing:
		}
		w.mu.Lock()
		lines, w.lines = w.lines, lines[:0]
		open = !w.closed
		w.space.Broadcast()
		w.mu.Unlock()
		_, _ = w.out.Write(lines) // see Write
		select {
		case <-time.After(flushInterval):
		case <-w.closing:
		}
	}
}

// newLogger returns a logger that writes to w at LOG_LEVEL, in LOG_FORMAT. The default format depends on stdout.
func newLogger(cfg config.Config, stdout, w io.Writer) *slog.Logger {
	opts := &slog.HandlerOptions{Level: cfg.LogLevel}
	if cfg.LogFormatFor(isTerminal(stdout)) == config.LogText {
		return slog.New(slog.NewTextHandler(w, opts))
	}
	return slog.New(jsonHandler{slog.NewJSONHandler(w, opts), w})
}

// jsonHandler is a slog.JSONHandler with a fast path for the lines of requests. It implements middleware.RequestLogger.
type jsonHandler struct {
	*slog.JSONHandler
	out io.Writer // safe for concurrent use
}

// lineBuffers holds buffers of lines.
var lineBuffers = sync.Pool{New: func() any { return new([]byte) }}

// LogRequest writes the line of a request.
func (h jsonHandler) LogRequest(l middleware.RequestLine) {
	buffer, _ := lineBuffers.Get().(*[]byte)
	defer lineBuffers.Put(buffer)
	line, ok := l.AppendJSON((*buffer)[:0])
	if !ok {
		_ = h.Handle(context.Background(), l.Record()) // slog ignores this error too
		return
	}
	_, _ = h.out.Write(line) // as above
	*buffer = line
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
