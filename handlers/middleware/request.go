package middleware

import (
	"context"
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

// givenID matches a request ID that is accepted from a client or proxy, so that logs can be
// joined. Other values could forge log lines.
var givenID = regexp.MustCompile(`^[A-Za-z0-9_-]{8,64}$`)

// RequestID returns the ID of the request of ctx, or "".
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// Identify sets the ID of the request and sends it in X-Request-Id. The context of a quick route does not hold the ID,
// because that takes a copy of the request. Errors.Write adds it.
func Identify(routes *Table) gin.HandlerFunc {
	return func(c *gin.Context) {
		id := c.GetHeader(requestIDHeader)
		if id == "" || !givenID.MatchString(id) {
			id = newID()
		}
		c.Writer.Header()[requestIDHeader] = []string{id}
		if !routes.Of(c).Quick {
			identifyContext(c)
		}
	}
}

// identifyContext adds the ID of the request to its context.
func identifyContext(c *gin.Context) {
	if ctx := c.Request.Context(); RequestID(ctx) == "" {
		c.Request = c.Request.WithContext(context.WithValue(ctx, requestIDKey{}, sentID(c)))
	}
}

// sentID returns the ID of the request from the header of its response; "" without Identify.
func sentID(c *gin.Context) string {
	if id := c.Writer.Header()[requestIDHeader]; len(id) > 0 {
		return id[0]
	}
	return ""
}

// newID returns an ID of 26 letters and digits. It is unique, but not secret.
func newID() string {
	var id [26]byte
	a, b := rand.Uint64(), rand.Uint64() //nolint:gosec // not a secret, and crypto/rand takes ten times as long
	for i := range len(id) / 2 {
		id[i], id[i+13] = idAlphabet[a&31], idAlphabet[b&31]
		a, b = a>>5, b>>5
	}
	return string(id[:])
}

const idAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

const maxLoggedPath = 200 // bytes

// Observe counts the request and logs it when it ends, without query string and body. Requests to
// the routes in quiet, which machines poll, are logged at debug. For a stream, the log has open_ms
// instead of took_us, and the histogram of durations does not include it.
func Observe(log *slog.Logger, m *Metrics, quiet ...string) gin.HandlerFunc {
	debugOnly := map[string]bool{}
	for _, route := range quiet {
		debugOnly[route] = true
	}
	fast, _ := log.Handler().(RequestLogger)
	atInfo, atDebug := log.Enabled(context.Background(), slog.LevelInfo), log.Enabled(context.Background(), slog.LevelDebug)
	return func(c *gin.Context) {
		start := time.Now()
		m.inFlight.Inc()
		defer m.inFlight.Dec()
		c.Next()

		ended := time.Now()
		took := ended.Sub(start)
		stream := isStream(c)
		m.observe(c.Request.Method, c.FullPath(), c.Writer.Status(), took, stream)
		level, enabled := slog.LevelInfo, atInfo
		if debugOnly[c.FullPath()] {
			level, enabled = slog.LevelDebug, atDebug
		}
		if !enabled {
			return
		}
		path := c.Request.URL.Path
		line := RequestLine{
			Ended: ended, Level: level, ID: sentID(c), Method: c.Request.Method, Path: path[:min(len(path), maxLoggedPath)],
			Status: c.Writer.Status(), Bytes: max(0, c.Writer.Size()), Took: took, Stream: stream,
		}
		if fast != nil {
			fast.LogRequest(line)
			return
		}
		_ = log.Handler().Handle(c.Request.Context(), line.Record()) // slog ignores this error too
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
		e.Log.ErrorContext(c.Request.Context(), "panic", "request_id", sentID(c), "stack", string(debug.Stack()))
		e.Write(c, fmt.Errorf("panic: %v", v))
	}()
	c.Next()
}
