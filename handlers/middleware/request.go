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

// identified is the context of a request with its id: context.WithValue takes
// two allocations more, and this is done for each request.
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

// givenID is a request id that may be taken from outside: a proxy's, so that
// its log and ours can be joined. Anything else could forge log lines.
var givenID = regexp.MustCompile(`^[A-Za-z0-9_-]{8,64}$`)

// RequestID is the id of the request that ctx belongs to, or "".
func RequestID(ctx context.Context) string {
	if id, ok := ctx.Value(requestIDKey{}).(*string); ok {
		return *id
	}
	return ""
}

// Identify gives the request its id and sends it back in X-Request-Id.
func Identify(c *gin.Context) {
	id := c.GetHeader(requestIDHeader)
	if id == "" || !givenID.MatchString(id) {
		id = newID()
	}
	c.Writer.Header()[requestIDHeader] = []string{id}
	c.Request = c.Request.WithContext(&identified{c.Request.Context(), id})
}

// newID is an id of 26 letters and digits. It need not be a secret, only another one each time.
func newID() string {
	var b [16]byte
	binary.NativeEndian.PutUint64(b[:8], rand.Uint64()) //nolint:gosec // it guards nothing, and crypto/rand takes ten times as long
	binary.NativeEndian.PutUint64(b[8:], rand.Uint64()) //nolint:gosec // as above
	return idText.EncodeToString(b[:])
}

var idText = base32.StdEncoding.WithPadding(base32.NoPadding)

const maxLoggedPath = 200 // bytes

// Observe counts the request and writes one line about it when it is over:
// never its query string or body. Requests for routes in quiet, which machines
// send every few seconds, are logged at debug. How long a stream was open is no
// duration of a request: its line says open_ms in place of took_us, and the
// histogram leaves it out.
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
		timing := slog.Int64("took_us", took.Microseconds()) // no float: they are slow to write
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
		line := slog.NewRecord(ended, level, "request", 0) // 0: looking up that it is written here takes its time
		line.AddAttrs(
			slog.String("request_id", RequestID(ctx)),
			slog.String("method", c.Request.Method),
			slog.String("path", path[:min(len(path), maxLoggedPath)]),
			slog.Int("status", c.Writer.Status()),
			slog.Int("bytes", max(0, c.Writer.Size())),
			timing)
		_ = log.Handler().Handle(ctx, line) // slog itself has no use for the error either
	}
}

// Recover answers a handler's panic with a 500 and logs where it happened.
func (e *Errors) Recover(c *gin.Context) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if v == http.ErrAbortHandler { //nolint:errorlint // the value itself is the signal to drop the connection
			panic(v)
		}
		e.Log.ErrorContext(c.Request.Context(), "panic", "stack", string(debug.Stack()))
		e.Write(c, fmt.Errorf("panic: %v", v))
	}()
	c.Next()
}
