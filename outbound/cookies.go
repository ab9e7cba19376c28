package outbound

import (
	"net/http"
	"net/http/cookiejar"
	"net/mail"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/publicsuffix"
)

// Some sites set a cookie and redirect to themselves until the client sends it. So each fetch has its own cookies, from its
// redirects.

const (
	// cookiesLimit is the maximum length of the cookies of a fetch as text in bytes. Later ones are dropped.
	cookiesLimit = 16 << 10
	// maxCookieAge is the longest life of a cookie in browsers, in seconds (RFC 6265bis, 5.5). Much longer ones overflow in cookiejar.
	maxCookieAge = 400 * 24 * 3600
)

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
	if x.jar == nil {
		x.jar, _ = cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List}) // the error is always nil
	}
	if c := parseCookie(set); c != nil {
		x.jar.SetCookies(inJar(from), []*http.Cookie{c})
	}
}

// inJar returns u as browsers compare it with the path of a cookie: with escapes. cookiejar compares URL.Path.
func inJar(u *url.URL) *url.URL {
	out := *u
	out.Path = u.EscapedPath()
	return &out
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

// Cookies returns the cookies that the response and the redirects before it have set, as text for Request.Cookies: UTF-8 of
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
	line := from + " " + strconv.Quote(set) + "\n"
	if len(text)+len(line) > cookiesLimit || parseCookie(set) == nil {
		return text
	}
	return text + line
}

// parseCookie parses the value of Set-Cookie, and returns nil if it sets none. As in browsers, name and value may have any
// character but controls, one of them may be empty, and attributes may have spaces and quotes (RFC 6265, 5.2).
// http.ParseSetCookie, which refuses some of this, reads the attributes.
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
	var clean strings.Builder
	for a := range strings.SplitSeq(attributes, ";") {
		key, v, _ := strings.Cut(a, "=")
		clean.WriteString(";" + strings.Trim(key, " \t") + "=" + strings.Trim(v, " \t\""))
	}
	c, _ := http.ParseSetCookie("x=" + clean.String()) // an error is about the name or the value
	c.Name, c.Value, c.MaxAge = name, value, min(c.MaxAge, maxCookieAge)
	if c.RawExpires != "" && c.Expires.IsZero() { // "1 Jan 1970" or "01-Jan-70"; other dates are ignored
		c.Expires, _ = mail.ParseDate(strings.ReplaceAll(c.RawExpires, "-", " "))
	}
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
