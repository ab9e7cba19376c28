package outbound

import (
	"net/url"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// resolver resolves the URLs of one page.
type resolver struct {
	from   string      // the URL that others are relative to; "" if the page has none: then only absolute ones are resolved
	origin string      // of from, such as https://example.com:8080
	base   *whatwg.Url // from, once it was needed
}

// newResolver returns the resolver of a page with the <base href> pageBase, which is itself relative to the page.
func newResolver(page, pageBase string) *resolver {
	none := &resolver{}
	r := none.at(page)
	if pageBase != "" {
		if based := r.at(pageBase); based.from != "" {
			return based
		}
	}
	return r
}

// at returns the resolver of what ref is for r.
func (r *resolver) at(ref string) *resolver {
	from := r.resolve(ref)
	if from == "" {
		return &resolver{}
	}
	host := strings.Index(from, "://") + len("://")
	return &resolver{from: from, origin: from[:host+strings.IndexAny(from[host:], "/?")]}
}

// resolve returns what resolveURL gives, as a browser writes it, or "" if that may not be requested.
func (r *resolver) resolve(ref string) string {
	if i := strings.IndexByte(ref, '#'); i >= 0 {
		ref = ref[:i+1] // the # keeps a space before it, which would be removed at the end
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

// parse is resolveURL, but reads the base once.
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

// plain returns the URL of an absolute URL or path that is written as a browser would write it, as most are. It returns
// "" for all others.
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

// plainBytes are the bytes that a browser leaves alone.
var plainBytes = func() (set [256]uint8) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/") {
		set[c] = pathByte | queryByte
	}
	for _, c := range []byte("=&+") {
		set[c] = queryByte
	}
	return set
}()

// plainPath reports whether a path, with its query, is plain and has no segment that begins with a dot.
func plainPath(p string) bool {
	want := uint8(pathByte)
	for i := range len(p) {
		switch c := p[i]; {
		case plainBytes[c]&want == 0:
			if c != '?' || want == queryByte {
				return false
			}
			want = queryByte
		case c == '.' && want == pathByte && p[i-1] == '/': // a path begins with /
			return false
		}
	}
	return true
}

// plainHost reports whether a host is a name of plain labels. An IP address is none, because its last label begins with a
// digit. Labels with -- are left to IDNA.
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
	return begin < len(h) && len(h)-begin <= 63 && h[begin] >= 'a'
}

// plainPort reports whether a port is written without zeros in front and is in range.
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
