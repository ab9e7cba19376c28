package outbound

import (
	"bytes"
	"errors"
	"net/http"
	"net/netip"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

// defaultTransport replaces http.DefaultTransport. Requests from a goroutine in Relay.Run belong to that Run. All others go
// to fallback.
//
// Many services of the notification library send with the default client on the calling goroutine, and accept neither a
// context nor a client. So the goroutine connects a request with its message. The goroutine's number is in the first line
// of its stack trace, "goroutine 18 [running]:", which net/http parses too. If the number cannot be read, bind fails. A
// request from another goroutine passes the guard of GuardDefault.
//
// The alternatives are worse. One process per message would start this whole program and need the secrets. A lock around
// each message would let one hanging service block all others. Without the connection, requests would have no deadline,
// and the service's response could not be shown.
type defaultTransport struct {
	mu       sync.Mutex
	runs     map[uint64]*relayRun // by goroutine
	fallback atomic.Pointer[http.RoundTripper]
}

var byGoroutine = &defaultTransport{runs: map[uint64]*relayRun{}}

// init replaces the default transport before any code can use it.
func init() {
	standard := http.DefaultTransport
	byGoroutine.fallback.Store(&standard)
	http.DefaultTransport = byGoroutine
}

// GuardDefault makes Go's default HTTP client use the address guard. Call it once at the start of the program. Without it the
// default client has no guard except in Relay.Run.
func GuardDefault(allow []netip.Prefix) {
	t := NewService(Options{AllowCIDRs: allow}).Transport
	byGoroutine.fallback.Store(&t)
}

// RoundTrip implements http.RoundTripper.
func (d *defaultTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	d.mu.Lock()
	busy := len(d.runs) > 0
	d.mu.Unlock()
	if busy {
		if run := d.current(goroutineID()); run != nil {
			return run.RoundTrip(r)
		}
	}
	return (*d.fallback.Load()).RoundTrip(r)
}

// CloseIdleConnections is like that of http.Transport. net/http/httptest calls it.
func (d *defaultTransport) CloseIdleConnections() {
	if t, ok := (*d.fallback.Load()).(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

func (d *defaultTransport) current(id uint64) *relayRun {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.runs[id]
}

var (
	errNoGoroutine = errors.New("outbound: goroutine has no number, or is already in Relay.Run")
	errReplaced    = errors.New("outbound: http.DefaultTransport was replaced, so requests would bypass the address guard")
)

// bind makes the requests of this goroutine belong to run until release is called. A nested Run is an error.
func (d *defaultTransport) bind(run *relayRun) (release func(), err error) {
	if http.DefaultTransport != http.RoundTripper(d) {
		return nil, errReplaced
	}
	id := goroutineID()
	d.mu.Lock()
	defer d.mu.Unlock()
	if id == 0 || d.runs[id] != nil {
		return nil, errNoGoroutine
	}
	d.runs[id] = run
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.runs, id)
	}, nil
}

// goroutineID returns the number of the calling goroutine, or 0 if it cannot be read.
func goroutineID() uint64 {
	var b [64]byte
	line := b[:runtime.Stack(b[:], false)]
	number, _, _ := bytes.Cut(bytes.TrimPrefix(line, []byte("goroutine ")), []byte(" "))
	id, err := strconv.ParseUint(string(number), 10, 64)
	if err != nil {
		return 0
	}
	return id
}
