package middleware

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

// The cookies of logins. Browsers accept the prefix __Host- only over HTTPS, for this host and the path /, so other
// hosts of the domain cannot set it (RFC 6265bis, section 4.1.3.2). With a path in PUBLIC_URL, the prefix is __Secure-.
const (
	sessionCookie = "linkwatch_session"
	deviceCookie  = "linkwatch_device" // a browser in which an account has signed in
	hostPrefix    = "__Host-"
	securePrefix  = "__Secure-"
)

// Cookies sets and reads cookies of this host, and of the path of PUBLIC_URL.
type Cookies struct {
	host   string // of PUBLIC_URL; "" = unknown
	path   string // of PUBLIC_URL; "" = none
	secure bool   // PUBLIC_URL is https
}

// NewCookies returns the Cookies for PUBLIC_URL, which may be "".
func NewCookies(publicURL string) Cookies {
	u, err := url.Parse(publicURL)
	if err != nil {
		return Cookies{}
	}
	return Cookies{u.Hostname(), u.Path, u.Scheme == "https"}
}

// nameOf returns the name that a cookie has in the browser. It contains the path, because browsers also send the
// cookies that a program at / has set.
func (k Cookies) nameOf(name string, secure bool) string {
	name += strings.ReplaceAll(k.path, "/", ".")
	switch {
	case secure && k.path == "":
		return hostPrefix + name
	case secure:
		return securePrefix + name
	}
	return name
}

// isSecure reports whether the browser uses HTTPS. If PUBLIC_URL is https, requests to its host
// count as HTTPS even if the proxy does not send X-Forwarded-Proto.
func (k Cookies) isSecure(r *http.Request) bool {
	return isHTTPS(r) || k.secure && IsHost(r, k.host)
}

// Set sets a cookie for maxAge; 0 = until the browser closes, negative = delete the cookie.
func (k Cookies) Set(c *gin.Context, name, value string, maxAge time.Duration) {
	secure := k.isSecure(c.Request)
	http.SetCookie(c.Writer, &http.Cookie{ //nolint:gosec // Secure is missing only over HTTP
		Name: k.nameOf(name, secure), Value: value, Path: cmp.Or(k.path, "/"), MaxAge: int(maxAge / time.Second),
		Secure: secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// Get returns the value of a cookie; "" = none. Over HTTPS, the name must have the prefix.
func (k Cookies) Get(r *http.Request, name string) string {
	all := r.CookiesNamed(k.nameOf(name, k.isSecure(r)))
	if len(all) != 1 { // of two, another host has set one
		return ""
	}
	return all[0].Value
}

// SetSession sets the session cookie for maxAge.
func (k Cookies) SetSession(c *gin.Context, secret string, maxAge time.Duration) {
	k.Set(c, sessionCookie, secret, maxAge)
}

// EndSession deletes the session cookie.
func (k Cookies) EndSession(c *gin.Context) { k.Set(c, sessionCookie, "", -time.Second) }

// Session returns the session secret of a request; "" = none.
func (k Cookies) Session(r *http.Request) string { return k.Get(r, sessionCookie) }

// SessionHeader returns the header Cookie of a request that is like r, but in the session of secret.
func (k Cookies) SessionHeader(r *http.Request, secret string) string {
	return k.nameOf(sessionCookie, k.isSecure(r)) + "=" + secret
}

// SetDevice sets the cookie of a known browser for maxAge.
func (k Cookies) SetDevice(c *gin.Context, token string, maxAge time.Duration) {
	k.Set(c, deviceCookie, token, maxAge)
}

// Device returns the token of a known browser; "" = none.
func (k Cookies) Device(r *http.Request) string { return k.Get(r, deviceCookie) }
