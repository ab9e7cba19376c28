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

// CSP is the default Content-Security-Policy. Images may come from any host, because pages show
// the pictures of saved links.
const CSP = "default-src 'self'; img-src 'self' https: http: data:; object-src 'none'; base-uri 'none'; " +
	"form-action 'self'; frame-ancestors 'none'"

// Header values that all responses share. They are never changed.
var (
	cspHeader      = []string{CSP}
	nosniffHeader  = []string{"nosniff"}
	hstsHeader     = []string{"max-age=31536000"} // one year; not for other hosts of the domain
	referrerHeader = []string{"same-origin"}      // the site of a saved link does not see this server
	openerHeader   = []string{"same-origin"}      // a page that another site opens has no reference to that site
	featuresHeader = []string{"camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()"}
)

// Secure sets security headers, and the default Cache-Control of the route. If publicURL is https and has no path, it
// also sets Strict-Transport-Security (RFC 6797), which is for the whole host.
func Secure(routes *Table, publicURL string) gin.HandlerFunc {
	https := strings.HasPrefix(publicURL, "https://") && SubpathOf(publicURL) == ""
	return func(c *gin.Context) {
		h := c.Writer.Header()
		h["Content-Security-Policy"] = cspHeader
		h["X-Content-Type-Options"] = nosniffHeader
		h["Referrer-Policy"] = referrerHeader
		h["Cross-Origin-Opener-Policy"] = openerHeader
		h["Permissions-Policy"] = featuresHeader
		if https {
			h["Strict-Transport-Security"] = hstsHeader
		}
		if isCall(c.Request.URL.Path) {
			h.Set("Cache-Control", NoStore)
		} else if value := routes.Of(c).cacheControl(); value != "" {
			h.Set("Cache-Control", value)
		}
	}
}

// Hosts refuses requests with an unknown Host, as protection against DNS rebinding. Known hosts
// are loopback, name (HTTP_HOST), the local address of the connection, and the host of publicURL
// ("" = none).
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
		e.Write(c, NewProblem(models.CodeForbidden, "Unknown host name. The operator of this server can allow it with PUBLIC_URL."))
	}
}

// hostname returns host without port and brackets, or "" if it is malformed. Pages repeat Host
// in URLs, so it must not contain anything else.
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
	return a.AddrPort().Addr().Unmap() // invalid for a nil address
}

// SameOrigin refuses cross-origin writes of browsers. The origin of publicURL ("" = none) is allowed
// too, for proxies that change Host.
func (e *Errors) SameOrigin(publicURL string) gin.HandlerFunc {
	guard := http.NewCrossOriginProtection()
	if publicURL != "" {
		if err := guard.AddTrustedOrigin(strings.TrimSuffix(publicURL, SubpathOf(publicURL))); err != nil {
			panic(err) // config.Load accepts only an origin and a path
		}
	}
	return func(c *gin.Context) {
		if err := guard.Check(c.Request); err != nil {
			e.Write(c, NewProblem(models.CodeForbidden, "Cross-site request refused. Open Linkwatch in this browser and try again there."))
		}
	}
}

// requestTime is the time limit of a request. It is shorter than the write timeout of the server,
// so that a client gets an error when the database does not respond.
const requestTime = 40 * time.Second

// Timeout cancels the context of a request after requestTime, and limits its waits for the
// database (models.ForRequest). Quick routes and streams have their own limits.
func Timeout(routes *Table) gin.HandlerFunc {
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

// Body reads the request body into memory before any handler runs. The server's ReadTimeout
// limits slow clients, MaxBody large bodies. net/http ends the read deadline after the body, so
// handlers can run longer.
func (e *Errors) Body(c *gin.Context) {
	if c.Request.Body == http.NoBody {
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, MaxBody))
	if err == nil {
		c.Request.Body = io.NopCloser(bytes.NewReader(body))
		return
	}
	p := NewProblem(models.CodeInvalid, "The request body is incomplete.")
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		p = NewProblem(CodeTooLarge, "The request body is larger than 1 MiB. Send less data at once.")
	} else if errors.Is(err, os.ErrDeadlineExceeded) {
		p = NewProblem(CodeRequestTimeout, "The request body arrived too slowly. Try again.")
	}
	c.Header("Connection", "close") // the rest of the body is not read
	e.Write(c, p)
}
