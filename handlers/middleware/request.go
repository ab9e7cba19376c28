package middleware

import (
	"context"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"regexp"
	"runtime/debug"
	"time"

	"github.com/gin-gonic/gin"
)

const requestIDHeader = "X-Request-Id"

type requestIDKey struct{}

// identified is the context of a request with its ID. context.WithValue needs two more
// allocations per request.
type identified struct {
	context.Context
	id string
}

// Value implements context.Context.
func (c *identified) Value(key any) any {
	if key == (requestIDKey{}) {
		return &c.id
	}
	return c.Context.Value(key)
}

// givenID matches a request ID that is accepted from a client or proxy, so that logs can be
// joined. Other values could forge log lines.
var givenID = regexp.MustCompile(`^[A-Za-z0-9_-]{8,64}$`)

// RequestID returns the ID of the request of ctx, or "".
func RequestID(ctx context.Context) string {
	if id, ok := ctx.Value(requestIDKey{}).(*string); ok {
		return *id
	}
	return ""
}

// Identify sets the ID of the request and sends it in X-Request-Id.
func Identify(c *gin.Context) {
	id := c.GetHeader(requestIDHeader)
	if id == "" || !givenID.MatchString(id) {
		id = newID()
	}
	c.Writer.Header()[requestIDHeader] = []string{id}
	c.Request = c.Request.WithContext(&identified{c.Request.Context(), id})
}

// newID returns an ID of 26 letters and digits. It is unique, but not secret.
func newID() string {
	var b [16]byte
	binary.NativeEndian.PutUint64(b[:8], rand.Uint64()) //nolint:gosec // not a secret, and crypto/rand takes ten times as long
	binary.NativeEndian.PutUint64(b[8:], rand.Uint64()) //nolint:gosec // as above
	return idText.EncodeToString(b[:])
}

var idText = base32.StdEncoding.WithPadding(base32.NoPadding)

const maxLoggedPath = 200 // bytes

// Observe counts the request and logs it when it ends, without query string and body. Requests to
// the routes in quiet, which machines poll, are logged at debug. For a stream, the log has open_ms
// instead of took_us, and the histogram of durations does not include it.
func Observe(log *slog.Logger, m *Metrics, quiet ...string) gin.HandlerFunc {
	debugOnly := map[string]bool{}
	for _, route := range quiet {
		debugOnly[route] = true
	}
	return func(c *gin.Context) {
		start := time.Now()
		m.inFlight.Inc()
		defer m.inFlight.Dec()
		c.Next()

		ended := time.Now()
		took := ended.Sub(start)
		timing := slog.Int64("took_us", took.Microseconds()) // not a float: floats are slow to write
		if isStream(c) {
			timing = slog.Int64("open_ms", took.Milliseconds())
			m.count(c.Request.Method, c.FullPath(), c.Writer.Status())
		} else {
			m.observe(c.Request.Method, c.FullPath(), c.Writer.Status(), took)
		}
		level := slog.LevelInfo
		if debugOnly[c.FullPath()] {
			level = slog.LevelDebug
		}
		ctx, path := c.Request.Context(), c.Request.URL.Path
		if !log.Enabled(ctx, level) {
			return
		}
		line := slog.NewRecord(ended, level, "request", 0) // 0: no source location, which is slow to look up
		line.AddAttrs(
			slog.String("request_id", RequestID(ctx)),
			slog.String("method", c.Request.Method),
			slog.String("path", path[:min(len(path), maxLoggedPath)]),
			slog.Int("status", c.Writer.Status()),
			slog.Int("bytes", max(0, c.Writer.Size())),
			timing)
		_ = log.Handler().Handle(ctx, line) // slog ignores this error too
	}
}

// Recover answers 500 when a handler panics and logs the stack.
func (e *Errors) Recover(c *gin.Context) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if v == http.ErrAbortHandler { //nolint:errorlint // net/http compares this value too
			panic(v)
		}
		e.Log.ErrorContext(c.Request.Context(), "panic", "stack", string(debug.Stack()))
		e.Write(c, fmt.Errorf("panic: %v", v))
	}()
	c.Next()
}
