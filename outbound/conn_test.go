package outbound

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// A connection only belongs to the exchange that uses it, not to earlier ones.
func TestConnEndsWithItsExchange(t *testing.T) {
	write := func(c *conn) chan error { // the other end is not read
		result := make(chan error, 1)
		go func() {
			_, err := c.Write([]byte("x"))
			result <- err
		}()
		return result
	}
	pipe := func() *conn {
		here, there := net.Pipe()
		t.Cleanup(func() { _ = here.Close(); _ = there.Close() })
		return &conn{Conn: here, timeout: time.Hour}
	}

	alone := pipe()
	before, cancelBefore := context.WithCancel(t.Context())
	stop := alone.use(before)
	if !stop() {
		t.Error("the exchange has ended before its context")
	}
	alone.leave()
	cancelBefore() // an exchange that is over
	ctx, cancel := context.WithCancel(t.Context())
	alone.use(ctx)
	blocked := write(alone)
	if alone.exchanges != 1 {
		t.Errorf("%d exchanges use it, want the one that did not release it", alone.exchanges)
	}
	cancel()
	if err := <-blocked; err == nil {
		t.Error("a write went on after the exchange")
	}

	shared := pipe()
	ctx, cancel = context.WithCancel(t.Context())
	shared.use(ctx)
	stop = shared.use(t.Context())
	blocked = write(shared)
	cancel()
	if err := <-blocked; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v, want a write that timed out", err)
	}
	stop()
	shared.leave()

	late, kept := pipe(), pipe()
	late.closeUnused()
	if _, err := late.Write([]byte("x")); err == nil {
		t.Error("a connection that came after its exchange is open")
	}
	kept.use(t.Context())()
	kept.leave()
	kept.closeUnused()
	if err := kept.SetDeadline(time.Time{}); err != nil {
		t.Errorf("a connection that was used does not wait for the next exchange: %v", err)
	}
}

// The end of an exchange does not end others on the same HTTP/2 connection.
func TestSharedConnection(t *testing.T) {
	here, answer := make(chan string, 2), make(chan struct{})
	remotes := make(chan string, 2)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		remotes <- r.RemoteAddr
		here <- r.URL.Path
		if r.URL.Path == "/hangs" {
			<-r.Context().Done()
			return
		}
		<-answer
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	c := testClient(t, Options{Timeout: time.Minute})
	c.transport.base.TLSClientConfig.InsecureSkipVerify = true

	result := make(chan error, 1)
	go func() {
		_, err := c.Fetch(t.Context(), Request{URL: srv.URL + "/answers"})
		result <- err
	}()
	<-here
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-here; cancel() }()
	_, err := c.Fetch(ctx, Request{URL: srv.URL + "/hangs"})
	fails(t, err, KindCanceled, "canceled")
	close(answer)
	if err := <-result; err != nil {
		t.Errorf("the other exchange failed: %v", err)
	}
	if a, b := <-remotes, <-remotes; a != b {
		t.Errorf("the exchanges had connections of their own, %s and %s: this test shows nothing", a, b)
	}
}

// A dial ends with its exchange, here one without a response.
func TestDialEndsWithItsExchange(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(fd) }()
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	address := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: at.(*syscall.SockaddrInet4).Port}
	for range 2 { // the queue of a listener that accepts no connection
		dialer := net.Dialer{Timeout: 100 * time.Millisecond}
		if filler, err := dialer.Dial("tcp", address.String()); err == nil {
			defer func() { _ = filler.Close() }()
		}
	}
	c := testClient(t, Options{Timeout: 50 * time.Millisecond})
	control, dials := c.transport.dialer.Control, make(chan struct{}, 1)
	c.transport.dialer.Control = func(network, address string, raw syscall.RawConn) error {
		dials <- struct{}{}
		return control(network, address, raw)
	}
	_, err = c.Fetch(t.Context(), Request{URL: "http://" + address.String()})
	fails(t, err, KindTimeout, "timed out")
	<-dials

	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-dials; cancel() }()
	_, err = c.Fetch(ctx, Request{URL: "http://" + address.String(), Timeout: time.Minute})
	fails(t, err, KindCanceled, "canceled")
}
