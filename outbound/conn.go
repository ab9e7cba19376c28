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

// use counts an exchange in until release is called or ctx ends. If ctx ends first, the connection is closed. If other
// exchanges use it too, only writes to it are cut short: net/http cancels the stream of the one that ended.
func (c *conn) use(ctx context.Context) (release func()) {
	c.mu.Lock()
	c.exchanges++
	c.used = true
	c.mu.Unlock()
	stop := context.AfterFunc(ctx, c.end)
	return func() {
		if stop() {
			c.mu.Lock()
			c.exchanges--
			c.mu.Unlock()
		}
	}
}

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

// gotConn binds the connection that net/http chose for the current hop to the exchange.
func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	x.releaseConn() // of a try that net/http repeats
	raw := info.Conn
	if t, ok := raw.(*tls.Conn); ok {
		raw = t.NetConn()
	}
	if c, ok := raw.(*conn); ok {
		x.release = c.use(x.ctx)
	}
}

// releaseConn leaves the connection of the last hop to others.
func (x *exchange) releaseConn() {
	if x.release != nil {
		x.release()
		x.release = nil
	}
}

// dial connects on behalf of the exchange in ctx and ends with it. net/http has cut ctx off from the exchange's own
// context and would go on alone, in case a later request can use the connection.
func (t *transport) dial(ctx context.Context, network, address string) (net.Conn, error) {
	x := ctx.Value(exchangeKey{}).(*exchange)
	raw, err := t.dialer.DialContext(x.ctx, network, address) //nolint:contextcheck // ctx never ends, x.ctx does
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: raw, timeout: writeTimeout}
	context.AfterFunc(x.ctx, c.closeUnused) //nolint:contextcheck // ctx never ends, x.ctx does
	return c, nil
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
