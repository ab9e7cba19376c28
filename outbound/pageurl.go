package outbound

import (
	"net/netip"
	"net/url"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// resolver resolves the URLs of one page.
type resolver struct {
	from   string      // base URL; "" = none, only absolute URLs are resolved
	origin string      // such as https://example.com:8080
	base   *whatwg.Url // parsed from, set at first use
}

// newResolver returns the resolver of a page. pageBase is its <base href>, which is relative to the page.
func newResolver(page, pageBase string) *resolver {
	unresolved := &resolver{}
	r := unresolved.at(page)
	if pageBase != "" {
		if based := r.at(pageBase); based.from != "" {
			return based
		}
	}
	return r
}

// at returns a resolver whose base URL is ref, resolved by r.
func (r *resolver) at(ref string) *resolver {
	from := r.resolve(ref)
	if from == "" {
		return &resolver{}
	}
	host := strings.Index(from, "://") + len("://")
	return &resolver{from: from, origin: from[:host+strings.IndexAny(from[host:], "/?")]}
}

// resolve returns the URL of ref as a browser writes it, or "" if a crawler may not request it.
func (r *resolver) resolve(ref string) string {
	if i := strings.IndexByte(ref, '#'); i >= 0 {
		ref = ref[:i+1] // a space before the # must not become a trailing space
	}
	if u := r.plain(strings.TrimSuffix(ref, "#")); u != "" {
		return u
	}
	if len(ref) > urlLimit || otherScheme(ref) {
		return ""
	}
	u, err := r.parse(ref)
	if err != nil {
		return ""
	}
	return href(u)
}

// parse is resolveURL, but parses the base only once.
func (r *resolver) parse(ref string) (*url.URL, error) {
	if r.from == "" {
		return resolveURL(nil, ref)
	}
	if r.base == nil {
		base, err := browserURLs.Parse(r.from)
		if err != nil {
			return nil, err
		}
		r.base = base
	}
	return requestable(r.base.Parse(escapeInvalid(ref)))
}

// plain is a fast path. It returns the URL of ref if ref is an absolute URL or path in normal form, as most are, and else "".
func (r *resolver) plain(ref string) string {
	if strings.HasPrefix(ref, "/") {
		if r.origin == "" || strings.HasPrefix(ref, "//") || !plainPath(ref) || len(r.origin)+len(ref) > urlLimit {
			return ""
		}
		return r.origin + ref
	}
	if len(ref) > urlLimit-1 {
		return ""
	}
	host, port := strings.TrimPrefix(ref, "https://"), "443"
	if host == ref {
		if host = strings.TrimPrefix(ref, "http://"); host == ref {
			return ""
		}
		port = "80"
	}
	path := ""
	if i := strings.IndexAny(host, "/?"); i >= 0 {
		host, path = host[:i], host[i:]
	}
	if name, number, found := strings.Cut(host, ":"); found {
		if number == port || !plainPort(number) {
			return ""
		}
		host = name
	}
	switch {
	case !plainHost(host):
		return ""
	case path == "":
		return ref + "/"
	case path[0] == '/' && plainPath(path):
		return ref
	}
	return ""
}

const (
	pathByte  = 1 << iota // in a path
	queryByte             // in a query
)

// plainBytes are the bytes that a browser does not escape.
var plainBytes = func() (set [256]uint8) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/") {
		set[c] = pathByte | queryByte
	}
	for _, c := range []byte("=&+") {
		set[c] = queryByte
	}
	return set
}()

// plainPath reports whether a path with its query needs no escaping and has no segment that starts with a dot.
func plainPath(p string) bool {
	want := uint8(pathByte)
	for i := range len(p) {
		switch c := p[i]; {
		case plainBytes[c]&want == 0:
			if c != '?' || want == queryByte {
				return false
			}
			want = queryByte
		case c == '.' && want == pathByte && p[i-1] == '/': // a path starts with /
			return false
		}
	}
	return true
}

// plainHost reports whether a host is an ASCII domain name without IDNA labels (with --), or an IPv4 address in normal form.
func plainHost(h string) bool {
	if len(h) == 0 || len(h) > 253 {
		return false
	}
	begin := 0 // of the label
	for i := range len(h) {
		switch c := h[i]; {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
		case c == '-':
			if i == begin || i+1 == len(h) || h[i+1] == '-' || h[i+1] == '.' {
				return false
			}
		case c == '.':
			if i == begin || i-begin > 63 {
				return false
			}
			begin = i + 1
		default:
			return false
		}
	}
	if begin < len(h) && len(h)-begin <= 63 && h[begin] >= 'a' {
		return true
	}
	_, err := netip.ParseAddr(h) // accepts no short forms
	return err == nil
}

// plainPort reports whether a port has no leading zeros and is in range.
func plainPort(p string) bool {
	n := 0
	for i := range len(p) {
		if i > 4 || p[i] < '0' || p[i] > '9' {
			return false
		}
		n = 10*n + int(p[i]-'0')
	}
	return p != "" && p[0] != '0' && n <= 65535
}

// otherScheme reports whether ref is an absolute URL of a scheme other than http and https, such as mailto:.
func otherScheme(ref string) bool {
	for i := range len(ref) {
		c := ref[i]
		switch lower := c | 0x20; {
		case 'a' <= lower && lower <= 'z':
		case i > 0 && (c == '+' || c == '-' || c == '.' || '0' <= c && c <= '9'):
		case i > 0 && c == ':':
			return !strings.EqualFold(ref[:i], "http") && !strings.EqualFold(ref[:i], "https")
		default:
			return false
		}
	}
	return false
}
