package middleware

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
	"linkwatch/models/modelstest"
)

type poll = func(ctx context.Context, after string) ([]StreamEvent, bool, error)

type streamed struct {
	*httptest.Server
	streams  *Streams
	stopping chan struct{}
	log      *modelstest.Log
	ended    chan struct{} // receives a value for each request that ended
}

func newStreamed(t *testing.T, most int, p poll, change ...func(*http.Server)) *streamed {
	t.Helper()
	s := &streamed{stopping: make(chan struct{}), log: modelstest.NewLog(t), ended: make(chan struct{}, 100)}
	s.streams = NewStreams(&Errors{Log: slog.New(slog.NewTextHandler(s.log, nil))}, s.stopping, most)
	s.Server = httptest.NewUnstartedServer(engine(func(c *gin.Context) {
		defer func() { s.ended <- struct{}{} }()
		s.streams.Serve(c, time.Millisecond, p)
	}))
	for _, c := range change {
		c(s.Config)
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// open opens the stream. It is closed at the end of the test.
func (s *streamed) open(t *testing.T, method, query string, header ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+"/"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

func all(t *testing.T, res *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// count returns a poll that sends the numbers up to last, two at a time.
func count(last int) poll {
	return func(_ context.Context, after string) ([]StreamEvent, bool, error) {
		n, _ := strconv.Atoi(after)
		var events []StreamEvent
		for i := n + 1; i <= min(n+2, last); i++ {
			events = append(events, StreamEvent{ID: strconv.Itoa(i), Name: "n", Data: map[string]int{"n": i}})
		}
		return events, n+2 >= last, nil
	}
}

func numbers(from, last int) string {
	var b strings.Builder
	b.WriteString("retry: 2000\n\n")
	for i := from; i <= last; i++ {
		fmt.Fprintf(&b, "id: %d\nevent: n\ndata: {\"n\":%d}\n\n", i, i)
	}
	return b.String() + "event: end\ndata: {}\n\n"
}

func TestStreamSendsEventsInOrder(t *testing.T) {
	s := newStreamed(t, 1, count(5))
	res := s.open(t, "GET", "")
	for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if got, want := all(t, res), numbers(1, 5); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStreamResumes(t *testing.T) {
	s := newStreamed(t, 1, count(6))
	for _, c := range []struct {
		query  string
		header []string
		from   int
	}{
		{"", []string{"Last-Event-ID", "3"}, 4},
		{"?last_event_id=4", nil, 5},
		{"?last_event_id=1", []string{"Last-Event-ID", "5"}, 6}, // the header of a browser that reconnects is newer
	} {
		if got, want := all(t, s.open(t, "GET", c.query, c.header...)), numbers(c.from, 6); got != want {
			t.Errorf("%+v: got %q, want %q", c, got, want)
		}
		<-s.ended
	}
	long := strings.Repeat("1", 65)
	for _, c := range [][]string{{"?last_event_id=" + long}, {"?last_event_id=%0A"}, {"?last_event_id=%C3%BC"}, {"", "Last-Event-ID", long}} {
		res := s.open(t, "GET", c[0], c[1:]...)
		if body := all(t, res); res.StatusCode != http.StatusBadRequest || !strings.Contains(strings.ToLower(body), "last") {
			t.Errorf("%q: %d %s", c, res.StatusCode, body)
		}
		<-s.ended
	}
}

// An id, a name or data cannot start another field.
func TestStreamEventIsOneLineEach(t *testing.T) {
	got, err := StreamEvent{ID: "1\ndata: x\r\x00", Name: "a\r\nid: 2\u0085", Data: "a\nb"}.text()
	if want := "id: 1data: x\nevent: aid: 2\ndata: \"a\\nb\"\n\n"; string(got) != want || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if _, err := (StreamEvent{Data: make(chan int)}).text(); err == nil {
		t.Error("data that are not JSON are sent")
	}
}

// FuzzStreamEvent: an event with any content stays one event.
func FuzzStreamEvent(f *testing.F) {
	f.Add("1", "end", "text")
	f.Add("\n\n", "\r", "\r\n\u2028")
	f.Fuzz(func(t *testing.T, id, name, data string) {
		text, err := StreamEvent{ID: id, Name: name, Data: data}.text()
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' || r == '\r' })
		fields := 1
		for _, s := range []string{id, name} {
			if oneLine(s) != "" {
				fields++
			}
		}
		if len(lines) != fields || !strings.HasPrefix(lines[fields-1], "data: ") || strings.Count(string(text), "\n\n") != 1 {
			t.Errorf("%q", text)
		}
	})
}

// An idle stream sends heartbeats for longer than the write timeout of other responses.
func TestStreamHeartbeat(t *testing.T) {
	s := newStreamed(t, 1, func(context.Context, string) ([]StreamEvent, bool, error) { return nil, false, nil },
		func(server *http.Server) { server.WriteTimeout = time.Millisecond })
	s.streams.heartbeat = time.Millisecond
	lines := bufio.NewReader(s.open(t, "GET", "").Body)
	for _, want := range append([]string{"retry: 2000", ""}, slices.Repeat([]string{": heartbeat", ""}, 20)...) {
		if got, err := lines.ReadString('\n'); err != nil || got != want+"\n" {
			t.Fatalf("got %q, %v, want %q", got, err, want)
		}
	}
}

// At shutdown open streams end, also while a poll waits.
func TestStreamEndsAtShutdown(t *testing.T) {
	polls := make(chan struct{}, 1)
	s := newStreamed(t, 1, func(ctx context.Context, after string) ([]StreamEvent, bool, error) {
		if after == "" {
			return []StreamEvent{{ID: "1", Data: 1}}, false, nil
		}
		polls <- struct{}{}
		<-ctx.Done()
		return nil, false, ctx.Err()
	})
	res := s.open(t, "GET", "")
	<-polls
	close(s.stopping)
	if got, want := all(t, res), "retry: 2000\n\nid: 1\ndata: 1\n\nevent: end\ndata: {\"stopping\":true}\n\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := s.Config.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// A client that disconnects ends its stream and the context of its poll.
func TestStreamEndsWithItsClient(t *testing.T) {
	polls := make(chan struct{}, 1)
	s := newStreamed(t, 1, func(ctx context.Context, after string) ([]StreamEvent, bool, error) {
		if after == "" {
			return []StreamEvent{{ID: "1"}}, false, nil
		}
		polls <- struct{}{}
		<-ctx.Done()
		return nil, false, ctx.Err()
	})
	res := s.open(t, "GET", "")
	<-polls
	if err := res.Body.Close(); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	if got := s.log.String(); got != "" {
		t.Errorf("got log %s", got)
	}
}

// A client that does not read is disconnected.
func TestStreamDisconnectsSlowClient(t *testing.T) {
	large := strings.Repeat("x", 1<<20)
	s := newStreamed(t, 1, func(context.Context, string) ([]StreamEvent, bool, error) {
		return []StreamEvent{{ID: "1", Data: large}}, false, nil
	})
	s.streams.timeout = 50 * time.Millisecond
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	<-s.ended
	if got := s.log.String(); got != "" {
		t.Errorf("got log %s", got)
	}
}

func TestStreamsAreLimited(t *testing.T) {
	s := newStreamed(t, 1, func(context.Context, string) ([]StreamEvent, bool, error) { return nil, false, nil })
	first := s.open(t, "GET", "")
	res := s.open(t, "GET", "")
	if body := all(t, res); res.StatusCode != 503 || res.Header.Get("Retry-After") != "10" || !strings.Contains(body, "/probs/unavailable") {
		t.Errorf("%d %v %s", res.StatusCode, res.Header, body)
	}
	<-s.ended
	if err := first.Body.Close(); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	modelstest.Eventually(t, "the slot is free", func() bool { return s.open(t, "GET", "").StatusCode == http.StatusOK })
}

// An account has a limited number of streams from all networks together. Without an account, a network has.
func TestStreamsOfACallerAreLimited(t *testing.T) {
	s := NewStreams(&Errors{Log: slog.New(slog.DiscardHandler)}, nil, 200)
	from := func(account, address string) *http.Request {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = address
		return r.WithContext(models.WithActor(r.Context(), models.Actor{ID: account, Name: "x"}))
	}
	var leave func()
	for name, request := range map[string]func(i int) *http.Request{
		"account":      func(i int) *http.Request { return from("u_1", fmt.Sprintf("192.0.2.%d:1", i+1)) },
		"IPv4 address": func(i int) *http.Request { return from("", fmt.Sprintf("192.0.2.1:%d", i+1)) },
		"IPv6 network": func(i int) *http.Request { return from("", fmt.Sprintf("[2001:db8::%x]:1", i+1)) },
	} {
		for i := range maxPerCaller {
			var err error
			if leave, err = s.enter(request(i)); err != nil {
				t.Fatalf("%s, stream %d: %v", name, i+1, err)
			}
		}
		_, err := s.enter(request(maxPerCaller))
		if p, ok := errors.AsType[*Problem](err); !ok || p.Status != http.StatusTooManyRequests || p.retryAfter != streamsRetry {
			t.Errorf("%s: one stream more: got %v", name, err)
		}
		leave()
		if _, err := s.enter(request(maxPerCaller)); err != nil {
			t.Errorf("%s: after one ended: %v", name, err)
		}
	}
	for _, other := range []*http.Request{from("u_2", "192.0.2.1:1"), from("", "192.0.2.2:1"), from("", "[2001:db8:0:1::1]:1")} {
		leave, err := s.enter(other)
		if err != nil {
			t.Fatalf("another caller: %v", err)
		}
		leave()
	}
	if len(s.open) != 3 {
		t.Errorf("got %d callers with streams, want 3", len(s.open))
	}
}

// One stream too many gets 429 with Retry-After.
func TestTooManyStreamsOfACaller(t *testing.T) {
	s := newStreamed(t, 2*maxPerCaller, func(context.Context, string) ([]StreamEvent, bool, error) { return nil, false, nil })
	for i := range maxPerCaller {
		if res := s.open(t, "GET", ""); res.StatusCode != http.StatusOK {
			t.Fatalf("stream %d: got %d", i+1, res.StatusCode)
		}
	}
	res := s.open(t, "GET", "")
	if res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") != "10" {
		t.Fatalf("got %d, %v", res.StatusCode, res.Header)
	}
	if body := all(t, res); !strings.Contains(body, "/probs/rate-limited") {
		t.Error(body)
	}
}

func TestStreamHead(t *testing.T) {
	s := newStreamed(t, 1, func(context.Context, string) ([]StreamEvent, bool, error) { return nil, false, nil })
	for range 2 { // it uses no slot
		res := s.open(t, "HEAD", "")
		if body := all(t, res); res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" || body != "" {
			t.Errorf("%d %v %q", res.StatusCode, res.Header, body)
		}
		<-s.ended
	}
}

// An error of the first poll is the response. A later error ends the stream without an event, and
// is logged unless it is an error for the client.
func TestStreamErrors(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		status int
		logged bool
	}{
		"for the caller": {models.NotFound("crawl"), 404, false},
		"of ours":        {errors.New("secret"), 500, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStreamed(t, 1, func(_ context.Context, after string) ([]StreamEvent, bool, error) {
				if after == "1" {
					return []StreamEvent{{ID: "2"}}, false, nil
				}
				return nil, false, c.err
			})
			res := s.open(t, "GET", "")
			if body := all(t, res); res.StatusCode != c.status || res.Header.Get("Content-Type") != "application/problem+json" || strings.Contains(body, "secret") {
				t.Errorf("%d %v %s", res.StatusCode, res.Header, body)
			}
			<-s.ended
			before := s.log.String()
			if got, want := all(t, s.open(t, "GET", "?last_event_id=1")), "retry: 2000\n\nid: 2\ndata: null\n\n"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			<-s.ended
			if logged := s.log.String() != before; logged != c.logged {
				t.Errorf("got logged %v, want %v: %s", logged, c.logged, s.log.String())
			}
		})
	}
}

// A new stream during shutdown gets an error.
func TestStreamDuringShutdown(t *testing.T) {
	s := newStreamed(t, 1, func(ctx context.Context, _ string) ([]StreamEvent, bool, error) {
		<-ctx.Done()
		return nil, false, ctx.Err()
	})
	close(s.stopping)
	res := s.open(t, "GET", "")
	if body := all(t, res); res.StatusCode != 503 || !strings.Contains(body, "stopping") {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}

// sessions implements Accounts with one session of account; nil = the session has ended.
type sessions struct {
	Accounts
	account atomic.Pointer[Account]
}

func (*sessions) InUse() bool                          { return true }
func (*sessions) Refused(models.Actor, string, string) {}
func (s *sessions) BySession(context.Context, string) (Account, bool, error) {
	if a := s.account.Load(); a != nil {
		return *a, true, nil
	}
	return Account{}, false, nil
}

// TestStreamEndsWithItsCredential: a stream ends soon after its session has ended or the role of its account
// has changed, and continues otherwise.
func TestStreamEndsWithItsCredential(t *testing.T) {
	alice := Account{ID: "u_1", Name: "alice", Role: Admin, Credential: "s_1"}
	lower := alice
	lower.Role = Viewer
	for name, becomes := range map[string]*Account{"ended": nil, "another role": &lower} {
		t.Run(name, func(t *testing.T) {
			log := slog.New(slog.DiscardHandler)
			errs, routes, known := &Errors{Log: log}, NewTable(), &sessions{}
			known.account.Store(&alice)
			access := NewAccess(errs, routes, AccessOptions{Accounts: known, Guesses: NewGuesses(log)})
			streams := NewStreams(errs, nil, 1)
			streams.recheck = time.Millisecond
			var polls atomic.Int64
			gin.SetMode(gin.ReleaseMode)
			router := gin.New()
			router.Use(access.Check)
			router.GET("/sse", func(c *gin.Context) {
				streams.Serve(c, time.Millisecond, func(context.Context, string) ([]StreamEvent, bool, error) {
					polls.Add(1)
					return []StreamEvent{{Data: 1}}, false, nil
				})
			})
			routes.Add(Route{Method: "GET", Path: "/sse", Needs: Viewer, Stream: true})
			server := httptest.NewServer(router)
			defer server.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/sse", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Cookie", sessionCookie+"=secret")
			res, err := server.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			modelstest.Eventually(t, "the stream continues", func() bool { return polls.Load() > 20 })
			known.account.Store(becomes)
			if _, err := io.Copy(io.Discard, res.Body); err != nil || ctx.Err() != nil {
				t.Errorf("the stream did not end: %v", err)
			}
		})
	}
}
