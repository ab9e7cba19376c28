package outbound

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
)

// Some sites set a cookie and redirect to themselves until the client sends it. So each fetch has its own cookies, from its
// redirects.

// cookiesLimit is the maximum length of the cookies of a fetch as text in bytes. Later ones are dropped.
const cookiesLimit = 16 << 10

// keepCookies adds the cookies that a URL has set to those of the fetch.
func (x *exchange) keepCookies(from *url.URL, cookies []*http.Cookie) {
	for _, c := range cookies {
		if text := appendCookie(x.cookies, href(from), c.Raw); text != x.cookies {
			x.cookies = text
			x.setCookies(from, c)
		}
	}
}

func (x *exchange) setCookies(from *url.URL, cookies ...*http.Cookie) {
	if x.jar == nil {
		x.jar, _ = cookiejar.New(nil) // the error is always nil
	}
	x.jar.SetCookies(from, cookies)
}

// restoreCookies adds the cookies of an earlier fetch.
func (x *exchange) restoreCookies(text string) {
	x.cookies = text
	for line := range strings.Lines(text) {
		from, set, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		u, ok := parseURL(from)
		c, err := http.ParseSetCookie(set)
		if ok && err == nil {
			x.setCookies(u, c)
		}
	}
}

// Cookies returns the cookies that the response and the redirects before it have set, as text for Request.Cookies: at most
// 16 KiB, "" = none. A crawler that follows redirects itself passes it on.
func (r *Response) Cookies() string {
	text := r.cookies
	for _, set := range r.Header["Set-Cookie"] {
		text = appendCookie(text, r.URL, set)
	}
	return text
}

// appendCookie adds a line with the URL that has set a cookie, a space, and the value of Set-Cookie.
func appendCookie(text, from, set string) string {
	line := from + " " + set + "\n"
	if len(text)+len(line) > cookiesLimit {
		return text
	}
	return text + line
}
