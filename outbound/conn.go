package outbound

import (
	"context"
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"sync"
	"time"
)

const (
	// writeTimeout limits a write to a peer that does not read.
	writeTimeout = 5 * time.Second
	// lastWriteTimeout replaces it once an exchange on the connection has ended without a response.
	lastWriteTimeout = 250 * time.Millisecond
	// maxDials is the maximum number of connections per hop. net/http repeats a request whenever the peer closes the
	// connection in a way that allows it, such as a GOAWAY frame.
	maxDials = 5
)

// conn is a connection that is closed when its last exchange fails, even if net/http would keep it open. net/http hands
// the connection of a 101 response to its caller, and closes TLS only after a last write. It shares an HTTP/2
// connection whose peer may have stopped reading.
type conn struct {
	net.Conn
	mu        sync.Mutex
	exchanges int           // that use the connection now; more than one only with HTTP/2
	used      bool          // by any exchange so far
	timeout   time.Duration // of a write
}

// Write fails if the peer does not read in time.
func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	err := c.SetWriteDeadline(time.Now().Add(c.timeout))
	c.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// use adds an exchange. It calls end when ctx ends, unless stop was called before. stop then returns true, and the caller
// calls leave or end.
func (c *conn) use(ctx context.Context) (stop func() bool) {
	c.mu.Lock()
	c.exchanges++
	c.used = true
	c.mu.Unlock()
	return context.AfterFunc(ctx, c.end)
}

// leave removes an exchange that got its response. Others may use the connection.
func (c *conn) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exchanges--
}

// end removes an exchange without a response, and closes the connection. If other exchanges use it too, it only shortens
// the timeout of writes, and net/http cancels the stream.
func (c *conn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exchanges--
	if c.exchanges == 0 {
		_ = c.Close()
		return
	}
	c.timeout = lastWriteTimeout
	_ = c.SetWriteDeadline(time.Now().Add(c.timeout)) // also for a pending write
}

// closeUnused closes a connection that was ready too late for its exchange.
func (c *conn) closeUnused() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.used {
		_ = c.Close()
	}
}

// gotConn binds the connection of the current hop to the exchange. When net/http repeats a request on another connection,
// gotConn ends the first one, because net/http may leave it open.
func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	var c *conn
	switch of := info.Conn.(type) {
	case *headConn:
		c, x.tls = of.below, of.tls
		of.expect(&x.Method)
	case *tls.Conn: // HTTP/2
		c, _ = of.NetConn().(*conn)
	}
	if c == nil || c == x.conn {
		return
	}
	x.quitConn((*conn).end)
	x.conn, x.stop = c, c.use(x.ctx)
}

// releaseConn makes the connection of the last hop available to other exchanges.
func (x *exchange) releaseConn() { x.quitConn((*conn).leave) }

func (x *exchange) quitConn(how func(*conn)) {
	if x.conn != nil && x.stop() {
		how(x.conn)
	}
	x.conn = nil
}

// dial returns a connection for HTTP/1 without TLS.
func (t *transport) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := t.open(ctx, network, address, address)
	if err != nil {
		return nil, err
	}
	return &headConn{Conn: c, below: c}, nil
}

// open connects for the exchange in ctx and stops with it. net/http removes cancellation from ctx, so that a dial can
// finish for a later request. page is the address of a page without TLS, else "".
func (t *transport) open(ctx context.Context, network, address, page string) (*conn, error) {
	x := ctx.Value(exchangeKey{}).(*exchange)
	if x.dials.Add(1) > maxDials {
		return nil, &Error{Kind: KindReset, text: "connection closed early"}
	}
	raw, err := t.connect(x.ctx, network, address, page) //nolint:contextcheck // ctx never ends, x.ctx does
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, timeout: writeTimeout}
	context.AfterFunc(x.ctx, c.closeUnused) //nolint:contextcheck // ctx never ends, x.ctx does
	return c, nil
}

// connect connects to an address that the guard allows, through the next proxy if there are any. page is as
// in open.
func (t *transport) connect(ctx context.Context, network, address, page string) (net.Conn, error) {
	if t.endpoint != "" && address != t.endpoint {
		return nil, &Error{Kind: KindBlocked, text: "address not allowed"}
	}
	if t.tunnel == nil {
		return t.dialer.DialContext(ctx, network, address)
	}
	to, err := t.lookup(ctx, address)
	if err != nil {
		return nil, err
	}
	return t.tunnel.connect(ctx, to, page)
}

// dialTLS returns a connection with TLS: a *tls.Conn for HTTP/2, else a *headConn. The handshake also stops with the exchange.
func (t *transport) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	raw, err := t.open(ctx, network, address, "")
	if err != nil {
		return nil, err
	}
	config := t.base.TLSClientConfig.Clone()
	config.ServerName = host
	c := tls.Client(raw, config)
	x := ctx.Value(exchangeKey{}).(*exchange)
	handshake, cancel := context.WithTimeout(x.ctx, handshakeTimeout)
	defer cancel()
	if err := c.HandshakeContext(handshake); err != nil { //nolint:contextcheck // ctx never ends, x.ctx does
		_ = raw.Close()
		return nil, err
	}
	state := c.ConnectionState()
	if state.NegotiatedProtocol == "h2" {
		return c, nil
	}
	return &headConn{Conn: c, below: raw, tls: &state}, nil
}
