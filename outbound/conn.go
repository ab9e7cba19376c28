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
	// writeTimeout bounds a write that the peer does not read.
	writeTimeout = 5 * time.Second
	// lastWriteTimeout bounds it once an exchange on the connection has ended without an answer.
	lastWriteTimeout = 250 * time.Millisecond
	// maxDials is the number of connections for one hop. net/http repeats a request as often as the peer ends its
	// connection in a way that allows it, such as a GOAWAY frame.
	maxDials = 5
)

// conn is a connection that ends with the exchanges that use it, whatever net/http waits for and whatever the peer
// sends. net/http alone does not ensure that: it hands a 101 answer's connection over to its caller, closes TLS only
// after a last write, and shares an HTTP/2 connection whose peer may have stopped reading.
type conn struct {
	net.Conn
	mu        sync.Mutex
	exchanges int           // that use it now; more than one only with HTTP/2
	used      bool          // by any
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

// use counts an exchange in until leave or end is called, or ctx ends, which calls end; stop reports whether it has not.
func (c *conn) use(ctx context.Context) (stop func() bool) {
	c.mu.Lock()
	c.exchanges++
	c.used = true
	c.mu.Unlock()
	return context.AfterFunc(ctx, c.end)
}

// leave is the end of an exchange that got its answer: others may use the connection.
func (c *conn) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exchanges--
}

// end is the end of an exchange that got no answer, and closes the connection. If other exchanges use it too, only writes
// to it are cut short: net/http cancels the stream of the one that ended.
func (c *conn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exchanges--
	if c.exchanges == 0 {
		_ = c.Close()
		return
	}
	c.timeout = lastWriteTimeout
	_ = c.SetWriteDeadline(time.Now().Add(c.timeout)) // also for a write that waits already
}

// closeUnused closes a connection that came too late for the exchange it was made for.
func (c *conn) closeUnused() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.used {
		_ = c.Close()
	}
}

// gotConn binds the connection that net/http chose for the current hop to the exchange. When net/http repeats a request
// that got no answer on another connection, the first one is ended: net/http may leave it open.
func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	raw := info.Conn
	if t, ok := raw.(*tls.Conn); ok {
		raw = t.NetConn()
	}
	c, ok := raw.(*conn)
	if !ok || c == x.conn {
		return
	}
	x.quitConn((*conn).end)
	x.conn, x.stop = c, c.use(x.ctx)
}

// releaseConn leaves the connection of the last hop, which was answered, to others.
func (x *exchange) releaseConn() { x.quitConn((*conn).leave) }

func (x *exchange) quitConn(how func(*conn)) {
	if x.conn != nil && x.stop() {
		how(x.conn)
	}
	x.conn = nil
}

// dial connects on behalf of the exchange in ctx and ends with it. net/http has cut ctx off from the exchange's own
// context and would go on alone, in case a later request can use the connection.
func (t *transport) dial(ctx context.Context, network, address string) (net.Conn, error) {
	x := ctx.Value(exchangeKey{}).(*exchange)
	if x.dials.Add(1) > maxDials {
		return nil, &Error{Kind: KindReset, text: "connection closed early"}
	}
	raw, err := t.connect(x.ctx, network, address) //nolint:contextcheck // ctx never ends, x.ctx does
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, timeout: writeTimeout}
	context.AfterFunc(x.ctx, c.closeUnused) //nolint:contextcheck // ctx never ends, x.ctx does
	return c, nil
}

// connect makes a connection to an address that the guard allows, by the next proxy if there are any.
func (t *transport) connect(ctx context.Context, network, address string) (net.Conn, error) {
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
	return t.tunnel.connect(ctx, to)
}

// dialTLS is dial and a TLS handshake, which ends with the exchange as well.
func (t *transport) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	raw, err := t.dial(ctx, network, address)
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
	return c, nil
}
