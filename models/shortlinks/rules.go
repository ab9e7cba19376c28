package shortlinks

import (
	"net/netip"
	"net/url"
	"path"
	"strings"

	"linkwatch/models"
)

// Rules are the Options that decide which destinations are allowed. Their hosts
// are canonical (models.CanonicalHost), which they become once, in NewRules.
type Rules struct {
	blocked   []string // each includes the hosts below it
	shortHost string   // "" = none
	own       []authority
}

// authority is a host and a port; the port is "" if it is the scheme's own.
type authority struct {
	host, port string
	local      bool // host is a name of this machine: so are all others
}

// NewRules makes the rules of a store's Options.
func NewRules(o Options) Rules {
	r := Rules{shortHost: comparableHost(o.ShortHost)}
	for _, host := range o.BlockedHosts {
		r.blocked = append(r.blocked, comparableHost(host))
	}
	for _, own := range o.Own {
		host, port := splitPort(own)
		host = comparableHost(host)
		r.own = append(r.own, authority{host, port, isLocal(host)})
	}
	return r
}

// destination checks a destination: it must be a URL that models.ParseURL accepts,
// with a host that is not blocked, and no short link of this server, which might
// redirect in a circle.
func (r Rules) destination(longURL string) (models.URL, error) {
	u, err := models.ParseURL("long_url", longURL)
	if err != nil {
		return models.URL{}, err
	}
	host := comparableHost(u.Host)
	if r.blocks(host) {
		return models.URL{}, models.Invalid("long_url", "leads to a host that this server does not link to")
	}
	if r.isOurs(u, host) {
		return models.URL{}, models.Invalid("long_url", "is itself a short link of this server; give the address that it leads to")
	}
	return u, nil
}

// Sound reports whether an entry that came from outside of the process may be
// used: it leads to a destination that these rules allow, or it is a tombstone
// that holds for every instance. ReasonBlocked does not, since each instance has
// rules of its own.
func (r Rules) Sound(e Entry) bool {
	if e.Link <= 0 || e.Version <= 0 {
		return false
	}
	if e.IsTombstone {
		return gone[e.Reason] != nil && e.Reason != ReasonUnknown && e.Reason != ReasonBlocked
	}
	u, err := r.destination(e.LongURL)
	return err == nil && u.Location() == e.LongURL
}

// comparableHost returns the canonical form of a host. A host without one is
// compared as it is written: no browser opens it.
func comparableHost(host string) string {
	if canonical, ok := models.CanonicalHost(host); ok {
		return canonical
	}
	return host
}

// blocks reports whether a host is blocked, or is below a host that is.
func (r Rules) blocks(host string) bool {
	for _, b := range r.blocked {
		if above, ok := strings.CutSuffix(host, b); ok && (above == "" || strings.HasSuffix(above, ".")) {
			return true
		}
	}
	return false
}

// isOurs reports whether a URL, whose canonical host is host, is a short link
// of this server, however it spells its path: routers read "/%73/" as "/s/".
func (r Rules) isOurs(u models.URL, host string) bool {
	if r.shortHost != "" && host == r.shortHost {
		return true
	}
	_, written, _ := strings.Cut(u.Origin(), "://")
	_, port := splitPort(written)
	for _, own := range r.own {
		if port == own.port && (host == own.host || own.local && isLocal(host)) {
			at, err := url.Parse(u.Requested)
			return err != nil || strings.HasPrefix(path.Clean(strings.ReplaceAll(at.Path, `\`, "/")), "/s/")
		}
	}
	return false
}

// isLocal reports whether a canonical host is always this machine: localhost
// and the names below it, a loopback address, or the unspecified address, which
// connects to this machine too.
func isLocal(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// splitPort splits "host", "host:port", "[IPv6]" or "[IPv6]:port"; port may be "".
func splitPort(authority string) (host, port string) {
	if i := strings.LastIndexByte(authority, ':'); i > strings.LastIndexByte(authority, ']') {
		return authority[:i], authority[i+1:]
	}
	return authority, ""
}
