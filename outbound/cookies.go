package outbound

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Some sites set a cookie and redirect to themselves until the client sends it. So each fetch has its own cookies, from its
// redirects.

// cookiesLimit is the maximum length of the cookies of a fetch as text in bytes. Later ones are dropped.
const cookiesLimit = 16 << 10

// keepCookies adds the cookies that a URL has set to those of the fetch. sets are values of Set-Cookie.
func (x *exchange) keepCookies(from *url.URL, sets []string) {
	for _, set := range sets {
		if text := appendCookie(x.cookies, href(from), set); text != x.cookies {
			x.cookies = text
			x.setCookie(from, set)
		}
	}
}

func (x *exchange) setCookie(from *url.URL, set string) {
	c := parseCookie(set)
	if c == nil {
		return
	}
	if x.jar == nil {
		x.jar, _ = cookiejar.New(nil) // the error is always nil
	}
	x.jar.SetCookies(from, []*http.Cookie{c})
}

// restoreCookies adds the cookies of an earlier fetch.
func (x *exchange) restoreCookies(text string) {
	x.cookies = text
	for line := range strings.Lines(text) {
		from, quoted, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		u, ok := parseURL(from)
		set, err := strconv.Unquote(quoted)
		if ok && err == nil {
			x.setCookie(u, set)
		}
	}
}

// Cookies returns the cookies that the response and the redirects before it have set, as text for Request.Cookies: ASCII of
// at most 16 KiB, "" = none. A crawler that follows redirects itself passes it on.
func (r *Response) Cookies() string {
	text := r.cookies
	for _, set := range r.Header["Set-Cookie"] {
		text = appendCookie(text, r.URL, set)
	}
	return text
}

// appendCookie adds a line with the URL that has set a cookie, a space, and the value of Set-Cookie in quotes, because its
// bytes may be no text.
func appendCookie(text, from, set string) string {
	line := from + " " + strconv.QuoteToASCII(set) + "\n"
	if len(text)+len(line) > cookiesLimit {
		return text
	}
	return text + line
}

// parseCookie parses the value of Set-Cookie, and returns nil if it sets none. As in browsers, name and value may have any
// character but controls, and one of them may be empty (RFC 6265, 5.2). http.ParseSetCookie, which refuses and unquotes some,
// reads the attributes.
func parseCookie(set string) *http.Cookie {
	pair, attributes, _ := strings.Cut(set, ";")
	name, value, found := strings.Cut(pair, "=")
	if !found {
		name, value = "", pair
	}
	name, value = strings.Trim(name, " \t"), strings.Trim(value, " \t")
	if name+value == "" || !httpguts.ValidHeaderFieldValue(pair) {
		return nil
	}
	c, err := http.ParseSetCookie("x=;" + attributes)
	if err != nil {
		return nil
	}
	c.Name, c.Value = name, value
	return c
}

// cookieHeader returns the value of Cookie that sends cookies as they were received (RFC 6265, 5.4).
func cookieHeader(cookies []*http.Cookie) string {
	pairs := make([]string, len(cookies))
	for i, c := range cookies {
		if pairs[i] = c.Value; c.Name != "" {
			pairs[i] = c.Name + "=" + c.Value
		}
	}
	return strings.Join(pairs, "; ")
}
