package shortlinks

import (
	"net/netip"
	"net/url"
	"path"
	"strings"

	"linkwatch/models"
)

// Rules decide which destinations are allowed. Their hosts are canonical
// (models.CanonicalHost).
type Rules struct {
	blocked   []string // hosts, including their subdomains
	shortHost string   // "" = none
	own       []base
}

// base is the start of URLs of this server. The port is "" if it is the default of the scheme.
type base struct {
	host, port string
	path       string // "" = none
	local      bool   // whether host names this machine
}

// NewRules returns the rules of Options.
func NewRules(o Options) Rules {
	r := Rules{shortHost: comparableHost(o.ShortHost)}
	for _, host := range o.BlockedHosts {
		r.blocked = append(r.blocked, comparableHost(host))
	}
	for _, own := range o.Own {
		authority, path, _ := strings.Cut(own, "/")
		host, port := splitPort(authority)
		host = comparableHost(host)
		r.own = append(r.own, base{host, port, strings.TrimSuffix("/"+path, "/"), isLocal(host)})
	}
	return r
}

// destination parses and validates a destination. Its host must not be blocked, and it
// must not be a short link of this server, which could cause a redirect loop.
func (r Rules) destination(longURL string) (models.URL, error) {
	u, err := models.ParseURL("long_url", longURL)
	if err != nil {
		return models.URL{}, err
	}
	host := comparableHost(u.Host)
	if r.blocks(host) {
		return models.URL{}, models.Invalid("long_url", "has a host that is blocked on this server; use another URL")
	}
	if r.isOurs(u, host) {
		return models.URL{}, models.Invalid("long_url", "is a short link of this server; use its destination instead")
	}
	return u, nil
}

// Valid reports whether an entry from outside of the process can be used: its destination
// is allowed, or it is a tombstone. ReasonBlocked is not valid, because instances can have
// different rules.
func (r Rules) Valid(e Entry) bool {
	if e.Link <= 0 || e.Version <= 0 {
		return false
	}
	if e.IsTombstone {
		return tombstoneErrors[e.Reason] != nil && e.Reason != ReasonUnknown && e.Reason != ReasonBlocked
	}
	u, err := r.destination(e.LongURL)
	return err == nil && u.Location() == e.LongURL
}

// comparableHost returns the canonical form of a host, or the host itself if it has none.
func comparableHost(host string) string {
	if canonical, ok := models.CanonicalHost(host); ok {
		return canonical
	}
	return host
}

// blocks reports whether a host or a parent domain is blocked.
func (r Rules) blocks(host string) bool {
	for _, b := range r.blocked {
		if above, ok := strings.CutSuffix(host, b); ok && (above == "" || strings.HasSuffix(above, ".")) {
			return true
		}
	}
	return false
}

// isOurs reports whether a URL with a canonical host is a short link of this server. It
// compares the decoded path, because routers read "/%73/" as "/s/".
func (r Rules) isOurs(u models.URL, host string) bool {
	if r.shortHost != "" && host == r.shortHost {
		return true
	}
	_, written, _ := strings.Cut(u.Origin(), "://")
	_, port := splitPort(written)
	for _, own := range r.own {
		if port != own.port || host != own.host && (!own.local || !isLocal(host)) {
			continue
		}
		at, err := url.Parse(u.Requested)
		if err != nil || strings.HasPrefix(path.Clean(strings.ReplaceAll(at.Path, `\`, "/")), own.path+"/s/") {
			return true
		}
	}
	return false
}

// isLocal reports whether a canonical host always names this machine: localhost and its
// subdomains, loopback addresses and the unspecified address.
func isLocal(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// splitPort splits "host", "host:port", "[IPv6]" or "[IPv6]:port". port can be "".
func splitPort(authority string) (host, port string) {
	if i := strings.LastIndexByte(authority, ':'); i > strings.LastIndexByte(authority, ']') {
		return authority[:i], authority[i+1:]
	}
	return authority, ""
}
