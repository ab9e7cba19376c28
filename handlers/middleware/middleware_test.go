package middleware

import (
	"bufio"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/ncruces/go-sqlite3"

	"linkwatch/models"
)

func engine(handlers ...gin.HandlerFunc) *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.Use(Identify(NewTable()))
	e.Any("/", handlers...)
	return e
}

func TestProblemOfEachCode(t *testing.T) {
	e := &Errors{Log: slog.New(slog.DiscardHandler)}
	for code, want := range map[models.Code]int{
		"invalid-request": 400, "too-many-tags": 400, "unauthorized": 401, "forbidden": 403, "not-found": 404,
		"method-not-allowed": 405, "conflict": 409, "gone": 410, "rate-limited": 429, "too-large": 413, "unsupported-media-type": 415,
		"link-unresolvable": 422, "blocked-address": 422, "unavailable": 503, "internal": 500,
	} {
		p := e.Problem(t.Context(), &models.Error{Code: code, Detail: "d", RetryAfter: 1500 * time.Millisecond})
		if p.Status != want || p.Type != "/probs/"+string(code) || p.Title == "" {
			t.Errorf("%s: %+v", code, p)
		}
		if got := p.GetHeaders().Get("Retry-After"); got != "2" {
			t.Errorf("%s: got Retry-After %q, want 2: it is rounded up", code, got)
		}
	}
}

// Every type of problem has an explanation, and nothing else has one.
func TestEveryProblemIsExplained(t *testing.T) {
	for code, k := range kinds {
		p, ok := ProblemTypeOf(string(code))
		if !ok || p.Slug != string(code) || p.Status != k.status || p.Title != k.title || p.Meaning == "" || p.Action == "" {
			t.Errorf("%s: %+v %v", code, p, ok)
		}
	}
	for code := range explanations {
		if _, ok := kinds[code]; !ok {
			t.Errorf("%s is explained, but is not a problem type", code)
		}
	}
	if _, ok := ProblemTypeOf("nothing"); ok {
		t.Error("an unknown type is explained")
	}
}

// TestHosts: only exact names are allowed, because pages repeat the Host header.
func TestHosts(t *testing.T) {
	e := &Errors{Log: slog.New(slog.DiscardHandler)}
	router := engine(e.Hosts("links.lan", "https://links.example.org"), func(c *gin.Context) { c.Status(http.StatusOK) })
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:1": 200, "127.0.0.1:8080": 200, "127.1.2.3": 200, "[::1]:8080": 200, "[::1]": 200,
		"links.lan:80": 200, "links.example.org": 200,
		"": 403, "evil.example": 403, "evil.example:8080": 403, "192.0.2.1": 403, "localhost.evil.example": 403,
		"localhost:1');alert(1);('": 403, "localhost:99999": 403, "localhost:-1": 403, "localhost:": 403, "[localhost": 403, "localhost]": 403,
		"[::1%');alert(1);(']:80": 403, "[::1%eth0]": 403,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		if router.ServeHTTP(w, r); w.Code != want {
			t.Errorf("Host %q: got %d, want %d", host, w.Code, want)
		}
	}
}

func TestUnknownErrorsAreNotShown(t *testing.T) {
	var log strings.Builder
	e := &Errors{Log: slog.New(slog.NewTextHandler(&log, nil))}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx    context.Context
		err    error
		status int
		logged bool
	}{
		{t.Context(), errors.New("secret"), 500, true},
		{t.Context(), fmt.Errorf("secret: %w", context.DeadlineExceeded), 503, true},
		{t.Context(), fmt.Errorf("secret: %w", context.Canceled), 500, true}, // not canceled by the client
		{gone, fmt.Errorf("secret: %w", context.Canceled), StatusClientGone, false},
		{t.Context(), fmt.Errorf("secret: %w", &net.OpError{Op: "dial", Err: errors.New("refused")}), 503, true},
		{t.Context(), fmt.Errorf("secret: %w", driver.ErrBadConn), 503, true},
		{t.Context(), fmt.Errorf("secret: %w", io.ErrUnexpectedEOF), 503, true}, // a lost connection to PostgreSQL
		{t.Context(), fmt.Errorf("secret: %w", state("57P01")), 503, true},
		{t.Context(), fmt.Errorf("secret: %w", sqlite3.BUSY), 503, true},
		{t.Context(), fmt.Errorf("secret: %w", sqlite3.BUSY_RECOVERY), 503, true},
		{t.Context(), fmt.Errorf("secret: %w", sqlite3.CORRUPT), 503, true},
		{t.Context(), fmt.Errorf("secret: %w", sqlite3.FULL), 503, true},
		{t.Context(), fmt.Errorf("secret: %w", sqlite3.ERROR), 500, true},
		{t.Context(), fmt.Errorf("secret: %w", state("42601")), 500, true}, // a bug
	} {
		log.Reset()
		p := e.Problem(c.ctx, c.err)
		if p.Status != c.status || strings.Contains(p.Detail, "secret") || strings.Contains(log.String(), "secret") != c.logged {
			t.Errorf("%v: got %+v, log %q", c.err, p, log.String())
		}
	}
}

// state is a PostgreSQL error with a SQLSTATE.
type state string

func (s state) Error() string    { return "state " + string(s) }
func (s state) SQLState() string { return string(s) }

func TestRecover(t *testing.T) {
	var log strings.Builder
	e := &Errors{Log: slog.New(slog.NewTextHandler(&log, nil))}
	w := httptest.NewRecorder()
	engine(e.Recover, func(*gin.Context) { panic("secret") }).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	id := w.Header().Get("X-Request-Id")
	if w.Code != 500 || strings.Contains(w.Body.String(), "secret") || !strings.Contains(w.Body.String(), id) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if !strings.Contains(log.String(), "secret") || !strings.Contains(log.String(), "middleware_test.go") {
		t.Errorf("the log has no stack: %s", log.String())
	}
	if !strings.Contains(log.String(), "msg=panic request_id="+id+" stack=") {
		t.Errorf("the stack has no request ID: %s", log.String())
	}
}

// TestPageOfAProblemFails: if the page of an error fails, the response is JSON.
func TestPageOfAProblemFails(t *testing.T) {
	e := &Errors{Log: slog.New(slog.DiscardHandler)}
	e.Page = func(c *gin.Context, _ *Problem) { e.Write(c, errors.New("no template")) }
	req := httptest.NewRequest("GET", "/", nil)
	req.Header.Set("Accept", "text/html")
	w := httptest.NewRecorder()
	engine(func(c *gin.Context) { e.Write(c, models.NotFound("link")) }).ServeHTTP(w, req)
	if w.Code != 500 || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// A request has a deadline before the server closes its connection. Quick routes limit their own
// time.
func TestInTime(t *testing.T) {
	for quick, bounded := range map[bool]bool{false: true, true: false} {
		routes := NewTable()
		routes.Add(Route{Method: http.MethodGet, Path: "/", Needs: Public, Quick: quick})
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			var has bool
			e := engine(Timeout(routes), func(c *gin.Context) { _, has = c.Request.Context().Deadline() })
			e.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), method, "/", nil))
			if has != bounded {
				t.Errorf("%s, quick %v: got deadline %v", method, quick, has)
			}
		}
	}
}

// TestSlowBody: an incomplete request body ends at ReadTimeout, but a handler can run longer.
func TestSlowBody(t *testing.T) {
	e := &Errors{Log: slog.New(slog.DiscardHandler)}
	const readTimeout = 200 * time.Millisecond
	late := make(chan struct{})
	ts := httptest.NewUnstartedServer(engine(e.Body, func(c *gin.Context) {
		select {
		case <-c.Request.Context().Done():
			c.Status(StatusClientGone)
		case <-late:
			body, _ := io.ReadAll(c.Request.Body)
			c.String(http.StatusOK, "%s", body)
		}
	}))
	ts.Config.ReadTimeout = readTimeout
	ts.Start()
	defer ts.Close()
	time.AfterFunc(3*readTimeout, func() { close(late) }) // the test measures time

	send := func(body string) *http.Response {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", ts.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n%s", body)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	if res := send("0123456789"); res.StatusCode != 200 {
		t.Errorf("slow handler: got %d", res.StatusCode)
	}
	res := send("01234")
	if res.StatusCode != http.StatusRequestTimeout || !res.Close {
		t.Errorf("slow body: got %d, connection closed %v", res.StatusCode, res.Close)
	}
}
