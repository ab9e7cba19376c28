package middleware

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
)

const (
	heartbeatEvery = 15 * time.Second // proxies close connections after a minute without data
	writeTimeout   = 5 * time.Second
	reconnectAfter = 2 * time.Second
	recheckEvery   = 5 * time.Second  // how often a stream checks that its caller still has access
	streamsRetry   = 10 * time.Second // Retry-After if too many streams are open
	maxPerCaller   = 20               // open streams of an account, or of a network without one
)

// Streams answers requests with server-sent events. It is safe for concurrent use.
type Streams struct {
	errs     *Errors
	stopping <-chan struct{}
	slots    chan struct{}

	mu   sync.Mutex
	open map[string]int // open streams by caller

	heartbeat, timeout, recheck time.Duration
}

// NewStreams returns Streams for at most limit concurrent requests, and maxPerCaller of each caller, until stopping is
// closed.
func NewStreams(errs *Errors, stopping <-chan struct{}, limit int) *Streams {
	return &Streams{
		errs: errs, stopping: stopping, slots: make(chan struct{}, limit), open: map[string]int{},
		heartbeat: heartbeatEvery, timeout: writeTimeout, recheck: recheckEvery,
	}
}

// Serve streams the events that poll returns. The route must have Stream set. Serve calls poll
// immediately and then at each interval, with the ID of the last event of the client. The
// first ID is Last-Event-ID (or last_event_id in the query), or "". The context of a poll ends
// after 40 s, when the client disconnects and when the server stops.
//
// An error of the first poll is the response. If the caller has maxPerCaller open streams, it is 429, and if the server
// has too many, 503. A later
// error ends the stream without an event, so that the client reconnects. The same happens within
// 5 s after the caller loses access. The stream also ends when the client disconnects or a write
// takes longer than 5 s. When poll returns end or the server stops, the last event is "end" with
// the data {} or {"stopping":true}; after the latter, a client can reconnect.
func (s *Streams) Serve(c *gin.Context, every time.Duration, poll func(ctx context.Context, after string) (events []StreamEvent, end bool, err error)) {
	after, problem := lastEventID(c.Request)
	if problem != nil {
		s.errs.Write(c, problem)
		return
	}
	leave, err := s.enter(c.Request)
	if err != nil {
		s.errs.Write(c, err)
		return
	}
	defer leave()
	ctx, cancel := s.untilStopping(c.Request.Context())
	defer cancel()
	t := &stream{Streams: s, c: c, control: http.NewResponseController(c.Writer), every: every, poll: poll, after: after}
	events, end, err := t.ask(ctx)
	if err != nil && s.isStopping() {
		err = NewProblem(models.CodeUnavailable, "The server is stopping.")
	}
	if err != nil {
		s.errs.Write(c, err)
		return
	}
	if err = t.begin(); err == nil && c.Request.Method != http.MethodHead {
		err = t.run(ctx, events, end)
	}
	switch {
	case err == nil, errors.Is(err, errReader):
	case s.isStopping():
		_ = t.send(context.WithoutCancel(ctx), StreamEvent{Name: "end", Data: stopped{true}}) // the stream ends in any case
	case ctx.Err() == nil:
		_ = s.errs.Problem(ctx, err) // logs internal errors
	}
	t.limit() // net/http writes the last bytes
}

// enter counts an open stream until leave is called, or returns an error if too many are open.
func (s *Streams) enter(r *http.Request) (leave func(), err error) {
	caller := ClientNetwork(r)
	if actor, _ := models.ActorOf(r.Context()); actor.ID != "" {
		caller = actor.ID
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[caller] >= maxPerCaller {
		return nil, RateLimited(fmt.Sprintf("You have %d open event streams. Close one.", maxPerCaller), streamsRetry)
	}
	select {
	case s.slots <- struct{}{}:
	default:
		return nil, &models.Error{
			Code: models.CodeUnavailable, Detail: "Too many event streams are open. Try again later.", RetryAfter: streamsRetry,
		}
	}
	s.open[caller]++
	return func() {
		<-s.slots
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[caller]--; s.open[caller] == 0 {
			delete(s.open, caller)
		}
	}, nil
}

// stopped is the data of the last event at shutdown.
type stopped struct {
	Stopping bool `json:"stopping"`
}

// untilStopping returns a context that also ends at shutdown.
func (s *Streams) untilStopping(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-s.stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func (s *Streams) isStopping() bool {
	select {
	case <-s.stopping:
		return true
	default:
		return false
	}
}

type stream struct {
	*Streams
	c       *gin.Context
	control *http.ResponseController
	every   time.Duration
	poll    func(ctx context.Context, after string) ([]StreamEvent, bool, error)
	after   string // ID of the last event that was sent
}

// errReader is the error of a write that failed or timed out.
var errReader = errors.New("client of the stream disconnected or is too slow")

func (t *stream) ask(ctx context.Context) (events []StreamEvent, end bool, err error) {
	ctx, cancel := context.WithTimeout(models.ForRequest(ctx), requestTime)
	defer cancel()
	return t.poll(ctx, t.after)
}

// begin sends the headers and the retry interval.
func (t *stream) begin() error {
	h := t.c.Writer.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx must not buffer events
	t.c.Status(http.StatusOK)
	if t.c.Request.Method == http.MethodHead {
		t.c.Writer.WriteHeaderNow()
		return nil
	}
	t.c.Set(streamKey, true)
	return t.write(fmt.Appendf(nil, "retry: %d\n\n", reconnectAfter.Milliseconds()))
}

// run sends events, then those of further polls. It returns nil after the last event, or
// errReader, an error of poll, or the error of ctx.
func (t *stream) run(ctx context.Context, events []StreamEvent, end bool) (err error) {
	ticks := time.NewTicker(t.every)
	defer ticks.Stop()
	quiet := time.NewTimer(t.heartbeat)
	defer quiet.Stop()
	checks := time.NewTicker(t.recheck)
	defer checks.Stop()
	for {
		if len(events) > 0 {
			if err = t.send(ctx, events...); err != nil {
				return err
			}
			events = nil
			quiet.Reset(t.heartbeat)
		}
		if end {
			return t.send(ctx, StreamEvent{Name: "end", Data: struct{}{}})
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticks.C:
			events, end, err = t.ask(ctx)
		case <-checks.C:
			err = t.still(ctx)
		case <-quiet.C:
			err = t.write([]byte(": heartbeat\n\n"))
			quiet.Reset(t.heartbeat)
		}
		if err != nil {
			return err
		}
	}
}

// still returns an error if the caller no longer has access (Access.watch).
func (t *stream) still(ctx context.Context) error {
	f, ok := t.c.Value(stillKey).(func() error)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(models.ForRequest(ctx), requestTime)
	defer cancel()
	was := t.c.Request
	t.c.Request = was.WithContext(ctx)
	defer func() { t.c.Request = was }()
	return f()
}

// send writes events until ctx ends, and flushes them.
func (t *stream) send(ctx context.Context, events ...StreamEvent) error {
	for _, e := range events {
		if err := ctx.Err(); err != nil {
			return err
		}
		text, err := e.text()
		if err != nil {
			return err
		}
		t.limit()
		if _, err := t.c.Writer.Write(text); err != nil {
			return errReader
		}
		if id := oneLine(e.ID); id != "" {
			t.after = id
		}
	}
	return t.flush()
}

func (t *stream) write(text []byte) error {
	t.limit()
	if _, err := t.c.Writer.Write(text); err != nil {
		return errReader
	}
	return t.flush()
}

// flush sends buffered data and removes the deadline: a deadline that has passed cannot be
// extended.
func (t *stream) flush() error {
	t.limit()
	if err := t.control.Flush(); err != nil {
		return errReader
	}
	_ = t.control.SetWriteDeadline(time.Time{})
	return nil
}

// limit sets the deadline of the next write. An error means that the connection is closed, and
// the write fails too.
func (t *stream) limit() { _ = t.control.SetWriteDeadline(time.Now().Add(t.timeout)) }

const streamKey = "stream"

func isStream(c *gin.Context) bool {
	_, ok := c.Get(streamKey)
	return ok
}
