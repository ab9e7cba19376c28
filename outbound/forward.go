package outbound

import (
	"bytes"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// forwardConn is a connection to a proxy without CONNECT. It changes the request that net/http writes to absolute form (RFC 9112,
// 3.2.2): "GET / HTTP/1.1" becomes "GET http://example.com/ HTTP/1.1". Everything else passes unchanged. It is used for one request.
type forwardConn struct {
	net.Conn
	page string        // host and port of the page
	user *url.Userinfo // of the proxy; nil = none
	line []byte        // incomplete request line
	done bool          // the request line is written
}

// Write implements net.Conn. It holds the request line until it is complete.
func (c *forwardConn) Write(p []byte) (int, error) {
	if c.done {
		return c.Conn.Write(p)
	}
	c.line = append(c.line, p...)
	line, rest, complete := bytes.Cut(c.line, []byte("\r\n"))
	if !complete {
		return len(p), nil
	}
	method, target, _ := bytes.Cut(line, []byte(" "))
	out := append(bytes.Clone(method), ' ')
	if bytes.HasPrefix(target, []byte("/")) { // else it is absolute already
		out = append(out, "http://"+strings.TrimSuffix(c.page, ":80")...)
	}
	out = append(append(out, target...), "\r\n"...)
	if c.user != nil {
		out = append(out, "Proxy-Authorization: "+basicAuth(c.user)+"\r\n"...)
	}
	c.done, c.line = true, nil
	if _, err := c.Conn.Write(append(out, rest...)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// refusedByProxy reports whether a response comes from the proxy instead of the page: it asks for a password, or it is an error page
// of Squid. c is the connection of the exchange.
func (c *conn) refusedByProxy(resp *http.Response) bool {
	if c == nil {
		return false
	}
	_, forwarded := c.Conn.(*forwardConn)
	return forwarded && (resp.StatusCode == http.StatusProxyAuthRequired || resp.Header.Get("X-Squid-Error") != "")
}
