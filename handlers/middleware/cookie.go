package middleware

import (
	"net/http"
	"net/url"
	"time"

	"github.com/gin-gonic/gin"
)

// The cookie of a session. Browsers take a cookie with the prefix only over HTTPS, for this host
// alone, so that no other host of the domain can set it (RFC 6265bis, 4.1.3.2).
const (
	sessionCookie = "linkwatch_session"
	hostPrefix    = "__Host-"
)

// Cookies sets and reads cookies that only this server sees.
type Cookies struct {
	host   string // of PUBLIC_URL; "" = it is not known
	secure bool   // PUBLIC_URL is https
}

// NewCookies makes Cookies of PUBLIC_URL; "" = none.
func NewCookies(publicURL string) Cookies {
	u, err := url.Parse(publicURL)
	if err != nil {
		return Cookies{}
	}
	return Cookies{u.Hostname(), u.Scheme == "https"}
}

// isSecure says whether the browser came by HTTPS: to PUBLIC_URL, also if the proxy before this
// server does not say so, or else as the request tells.
func (k Cookies) isSecure(r *http.Request) bool {
	return isHTTPS(r) || k.secure && IsHost(r, k.host)
}

// Set sets a cookie for maxAge; 0 = until the browser is closed, negative = it is removed.
func (k Cookies) Set(c *gin.Context, name, value string, maxAge time.Duration) {
	secure := k.isSecure(c.Request)
	if secure {
		name = hostPrefix + name
	}
	http.SetCookie(c.Writer, &http.Cookie{ //nolint:gosec // without Secure only where the browser came by HTTP
		Name: name, Value: value, Path: "/", MaxAge: int(maxAge / time.Second), Secure: secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// Get returns the value of a cookie; "" = there is none. Over HTTPS only one with the prefix counts.
func (k Cookies) Get(r *http.Request, name string) string {
	if k.isSecure(r) {
		name = hostPrefix + name
	}
	all := r.CookiesNamed(name)
	if len(all) != 1 { // two are one too many: somebody else has set one
		return ""
	}
	return all[0].Value
}

// SetSession gives the browser the secret of a session that lasts at most maxAge.
func (k Cookies) SetSession(c *gin.Context, secret string, maxAge time.Duration) {
	k.Set(c, sessionCookie, secret, maxAge)
}

// EndSession takes the secret of a session from the browser.
func (k Cookies) EndSession(c *gin.Context) { k.Set(c, sessionCookie, "", -time.Second) }

// Session returns the secret of the session of a request; "" = there is none.
func (k Cookies) Session(r *http.Request) string { return k.Get(r, sessionCookie) }
