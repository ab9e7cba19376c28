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

// dispatcher takes the place of http.DefaultTransport. A request that comes from a goroutine in Relay.Run belongs to that
// Run; all others go on to rest.
//
// Many notification services of the library send with the default client, on the goroutine that calls them, and give no
// way to hand in a context or a client. So the goroutine is what ties a request to its message. Its number is the first
// line of its stack trace, "goroutine 18 [running]:", as in net/http's own debugging. A number that cannot be read, or a
// request from another goroutine, gets nothing of a Run: hold fails, or the request passes the guard of GuardDefault.
//
// The other ways were worse. A process for each message has to start this whole program and to be handed the secrets. A
// lock around each message lets a service that hangs hold up all. Without a tie there is neither the service's answer to
// show nor a deadline for its requests.
type dispatcher struct {
	mu   sync.Mutex
	runs map[uint64]*relayRun
	rest atomic.Pointer[http.RoundTripper]
}

var byGoroutine = &dispatcher{runs: map[uint64]*relayRun{}}

// The default transport is replaced before anything can use it, so no send can miss it.
func init() {
	standard := http.DefaultTransport
	byGoroutine.rest.Store(&standard)
	http.DefaultTransport = byGoroutine
}

// GuardDefault puts the address guard in front of everything that this program sends with Go's default HTTP client, for
// the life of the program. It is for its start; without it the default client has no guard except in Relay.Run.
func GuardDefault(allow []netip.Prefix) {
	t := NewService(Options{AllowCIDRs: allow}).Transport
	byGoroutine.rest.Store(&t)
}

// RoundTrip implements http.RoundTripper.
func (d *dispatcher) RoundTrip(r *http.Request) (*http.Response, error) {
	d.mu.Lock()
	busy := len(d.runs) > 0
	d.mu.Unlock()
	if busy {
		if run := d.of(goroutine()); run != nil {
			return run.RoundTrip(r)
		}
	}
	return (*d.rest.Load()).RoundTrip(r)
}

// CloseIdleConnections does what it does for a http.Transport. net/http/httptest calls it.
func (d *dispatcher) CloseIdleConnections() {
	if t, ok := (*d.rest.Load()).(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

func (d *dispatcher) of(id uint64) *relayRun {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.runs[id]
}

var (
	errNoGoroutine = errors.New("outbound: this goroutine cannot be told from others, or sends already")
	errReplaced    = errors.New("outbound: http.DefaultTransport was replaced, so requests would miss the address guard")
)

// hold makes the requests of this goroutine those of run, until release is called. A Run in a Run is refused.
func (d *dispatcher) hold(run *relayRun) (release func(), err error) {
	if http.DefaultTransport != http.RoundTripper(d) {
		return nil, errReplaced
	}
	id := goroutine()
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

// goroutine is the number of the goroutine that calls it; 0 if it cannot be read.
func goroutine() uint64 {
	var b [64]byte
	line := b[:runtime.Stack(b[:], false)]
	number, _, _ := bytes.Cut(bytes.TrimPrefix(line, []byte("goroutine ")), []byte(" "))
	id, err := strconv.ParseUint(string(number), 10, 64)
	if err != nil {
		return 0
	}
	return id
}
