package middleware

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"linkwatch/models"
)

// MaxBody is the largest request body in bytes.
const MaxBody = 1 << 20

// CSP is the Content-Security-Policy of every response that does not set
// another. Pictures come from the web: they are those of saved links.
const CSP = "default-src 'self'; img-src 'self' https: http: data:; object-src 'none'; base-uri 'none'; " +
	"form-action 'self'; frame-ancestors 'none'"

// Values of headers. All answers share them, and nothing changes them.
var (
	cspHeader      = []string{CSP}
	nosniffHeader  = []string{"nosniff"}
	hstsHeader     = []string{"max-age=31536000"} // a year; other hosts of the domain are none of our business
	referrerHeader = []string{"same-origin"}      // a saved link's site need not learn where it is saved
)

// Secure sets the headers that keep a browser from doing more than we mean. If publicURL is
// https, browsers are told to come by HTTPS alone (RFC 6797).
func Secure(publicURL string) gin.HandlerFunc {
	https := strings.HasPrefix(publicURL, "https://")
	return func(c *gin.Context) {
		h := c.Writer.Header()
		h["Content-Security-Policy"] = cspHeader
		h["X-Content-Type-Options"] = nosniffHeader
		h["Referrer-Policy"] = referrerHeader
		if https {
			h["Strict-Transport-Security"] = hstsHeader
		}
		if isCall(c.Request.URL.Path) {
			h.Set("Cache-Control", "no-store")
		}
	}
}

// Hosts refuses a request whose Host is none of ours: a stranger's name that
// was made to resolve to this machine (DNS rebinding). Ours are
// loopback, name (HTTP_HOST), the address that the connection came in on, and
// the host of publicURL ("" = none).
func (e *Errors) Hosts(name, publicURL string) gin.HandlerFunc {
	public := ""
	if u, err := url.Parse(publicURL); err == nil {
		public = u.Hostname()
	}
	return func(c *gin.Context) {
		host := hostname(c.Request.Host)
		if strings.EqualFold(host, "localhost") ||
			host != "" && (strings.EqualFold(host, name) || strings.EqualFold(host, public)) {
			return
		}
		ip, err := netip.ParseAddr(host)
		if err == nil && ip.Zone() == "" && (ip.Unmap().IsLoopback() || ip.Unmap() == localAddr(c.Request)) {
			return
		}
		e.Write(c, NewProblem(models.CodeForbidden, "This server is not known by that host name. Its operator can set PUBLIC_URL."))
	}
}

// hostname is host without its port and brackets; "" if it is not written as a
// host is. Pages repeat Host in addresses, so nothing else may hide in it.
func hostname(host string) string {
	if h, port, err := net.SplitHostPort(host); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return ""
		}
		return h
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		if inner, ok = strings.CutSuffix(inner, "]"); !ok {
			return ""
		}
		return inner
	}
	return host
}

func localAddr(r *http.Request) netip.Addr {
	a, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return a.AddrPort().Addr().Unmap() // of a nil address: the invalid one, which equals none
}

// SameOrigin refuses writes that a browser sends on behalf of another site.
// Behind a proxy that changes Host, publicURL ("" = none) is our origin too.
func (e *Errors) SameOrigin(publicURL string) gin.HandlerFunc {
	guard := http.NewCrossOriginProtection()
	if publicURL != "" {
		if err := guard.AddTrustedOrigin(publicURL); err != nil {
			panic(err) // config.Load lets only origins through
		}
	}
	return func(c *gin.Context) {
		if err := guard.Check(c.Request); err != nil {
			e.Write(c, NewProblem(models.CodeForbidden, "Another site may not send this on your behalf."))
		}
	}
}

// requestTime is how long a request is worked on: less than the server takes
// to close its connection, so that whoever waits for a database that does not
// answer is told so.
const requestTime = 40 * time.Second

// InTime ends a request's context when that is over, and limits its waits for the
// database (models.ForRequest), but for a quick route or a stream, which limit their own time.
func InTime(routes *Table) gin.HandlerFunc {
	return func(c *gin.Context) {
		if r := routes.Of(c); r.Quick || r.Stream {
			return
		}
		ctx, cancel := context.WithTimeout(models.ForRequest(c.Request.Context()), requestTime)
		defer cancel()
		c.Request = c.Request.WithContext(ctx)
		c.Next()
	}
}

// Body reads the request's body into memory before any handler runs, so that
// a slow sender is cut by the server's ReadTimeout and a large one by MaxBody,
// once for all. (net/http lifts that deadline at the body's end: a handler may
// work for longer.)
func (e *Errors) Body(c *gin.Context) {
	if c.Request.Body == http.NoBody {
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, MaxBody))
	if err == nil {
		c.Request.Body = io.NopCloser(bytes.NewReader(body))
		return
	}
	p := NewProblem(models.CodeInvalid, "The body ended early.")
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		p = NewProblem(CodeTooLarge, "The body is larger than 1 MiB.")
	} else if errors.Is(err, os.ErrDeadlineExceeded) {
		p = NewProblem(CodeRequestTimeout, "The body came too slowly.")
	}
	c.Header("Connection", "close") // what is left of the body is not read
	e.Write(c, p)
}
