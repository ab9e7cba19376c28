package middleware

import (
	"log/slog"
	"strconv"
	"time"
)

// RequestLogger is a slog.Handler that writes the line of a request faster than as a record. Every request has one.
type RequestLogger interface {
	slog.Handler
	LogRequest(l RequestLine)
}

// RequestLine is the log line of a request.
type RequestLine struct {
	Ended            time.Time
	Level            slog.Level
	ID, Method, Path string
	Status, Bytes    int
	Took             time.Duration
	Stream           bool // logged with open_ms instead of took_us
}

// requestMessage is the message of the line.
const requestMessage = "request"

// timing returns the name and value of the duration. It is no float: floats are slow to write.
func (l RequestLine) timing() (name string, value int64) {
	if l.Stream {
		return "open_ms", l.Took.Milliseconds()
	}
	return "took_us", l.Took.Microseconds()
}

// Record returns the line as a record of slog.
func (l RequestLine) Record() slog.Record {
	r := slog.NewRecord(l.Ended, l.Level, requestMessage, 0) // 0: no source location, which is slow to look up
	timing, took := l.timing()
	r.AddAttrs(
		slog.String("request_id", l.ID),
		slog.String("method", l.Method),
		slog.String("path", l.Path),
		slog.Int("status", l.Status),
		slog.Int("bytes", l.Bytes),
		slog.Int64(timing, took))
	return r
}

// AppendJSON appends the line as slog.JSONHandler writes the Record. ok is false for a line with characters that JSON
// escapes; then nothing is appended.
func (l RequestLine) AppendJSON(b []byte) (line []byte, ok bool) {
	if !isPlain(l.ID) || !isPlain(l.Method) || !isPlain(l.Path) {
		return b, false
	}
	b = append(b, `{"time":"`...)
	b = l.Ended.AppendFormat(b, time.RFC3339Nano)
	b = append(append(b, `","level":"`...), l.Level.String()...)
	b = append(b, `","msg":"`+requestMessage+`","request_id":"`...)
	b = append(append(b, l.ID...), `","method":"`...)
	b = append(append(b, l.Method...), `","path":"`...)
	b = append(append(b, l.Path...), `","status":`...)
	b = strconv.AppendInt(b, int64(l.Status), 10)
	b = strconv.AppendInt(append(b, `,"bytes":`...), int64(l.Bytes), 10)
	timing, took := l.timing()
	b = append(append(append(b, `,"`...), timing...), `":`...)
	b = strconv.AppendInt(b, took, 10)
	return append(b, "}\n"...), true
}

// isPlain reports whether JSON writes s as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
