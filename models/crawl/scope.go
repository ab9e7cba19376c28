package crawl

import (
	"database/sql/driver"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"linkwatch/models"
)

// authority is the host and the port of a URL. A site is all URLs of an authority.
type authority struct {
	host string
	port int // 0 = 80 or 443: http://example.com and https://example.com are one site
}

// authorityOf returns the authority of a canonical or normalized URL.
func authorityOf(url string) authority {
	_, rest, _ := strings.Cut(url, "://")
	if end := strings.IndexAny(rest, "/?"); end >= 0 {
		rest = rest[:end]
	}
	host, port, _ := splitAuthority(rest)
	return authority{host, port}
}

// splitAuthority splits "host", "host:port", "[IPv6]", "[IPv6]:port" or an IPv6 address without brackets. The host has no
// brackets. hasPort reports whether there is a port, which is 0 for 80 and 443. An invalid port is -1.
func splitAuthority(s string) (host string, port int, hasPort bool) {
	if strings.HasPrefix(s, "[") {
		bare, rest, closed := strings.Cut(s[1:], "]")
		if !closed {
			return s, 0, false
		}
		if rest == "" {
			return bare, 0, false
		}
		s, host = rest, bare
		if s[0] != ':' {
			return bare, -1, true
		}
	} else {
		colon := strings.IndexByte(s, ':')
		if colon < 0 || strings.IndexByte(s[colon+1:], ':') >= 0 {
			return s, 0, false
		}
		s, host = s[colon:], s[:colon]
	}
	n, err := strconv.ParseUint(s[1:], 10, 16)
	switch {
	case err != nil || n == 0:
		return host, -1, true
	case n == 80 || n == 443:
		return host, 0, true
	}
	return host, int(n), true
}

// String returns the host, with the port unless it is a default one.
func (a authority) String() string {
	if a.port == 0 {
		return a.host
	}
	return net.JoinHostPort(a.host, strconv.Itoa(a.port))
}

// Domains are lower-case host names, with or without a port: "example.com", "example.com:8080", "[::1]:8080". Each includes
// its subdomains. A name without a port is that of the source's port. 80 and 443 are the same port.
type Domains []string

// Value implements driver.Valuer.
func (d Domains) Value() (driver.Value, error) { return strings.Join(d, " "), nil }

// Scan implements sql.Scanner.
func (d *Domains) Scan(src any) error {
	switch v := src.(type) {
	case string:
		*d = strings.Fields(v)
	case []byte:
		*d = strings.Fields(string(v))
	default:
		return fmt.Errorf("domains are a %T, want text", src)
	}
	return nil
}

// GormDataType returns the type of the column.
func (Domains) GormDataType() string { return "text" }

// allow reports whether an authority is one of the domains or a subdomain. start is that of the source's URL. Without domains,
// only start is allowed, with or without "www.".
func (d Domains) allow(a, start authority) bool {
	if len(d) == 0 {
		return a.port == start.port && strings.TrimPrefix(a.host, "www.") == strings.TrimPrefix(start.host, "www.")
	}
	return slices.ContainsFunc(d, func(domain string) bool {
		name, port, hasPort := splitAuthority(domain)
		if !hasPort {
			port = start.port
		}
		rest, ok := strings.CutSuffix(a.host, name)
		return ok && a.port == port && (rest == "" || strings.HasSuffix(rest, "."))
	})
}

// canonicalDomain returns a domain as it is stored. It accepts "*." in front. ok is false if the host or the port is invalid.
func canonicalDomain(typed string) (domain string, ok bool) {
	typed = strings.TrimPrefix(strings.TrimSpace(typed), "*.")
	host, port, hasPort := splitAuthority(typed)
	host, ok = models.CanonicalHost(host)
	switch {
	case !ok || port < 0:
		return "", false
	case !hasPort:
		return host, true
	}
	return net.JoinHostPort(host, strings.TrimLeft(typed[strings.LastIndexByte(typed, ':')+1:], "0")), true
}

// authority returns the authority of the source's URL.
func (s Source) authority() authority { return authority{s.Host, s.Port} }

// Authority returns the host of the source's URL, with the port unless it is a default one.
func (s Source) Authority() string { return s.authority().String() }

// Allows reports whether crawls of the source may fetch a canonical or normalized URL.
func (s Source) Allows(url string) bool {
	return s.AllowedDomains.allow(authorityOf(url), s.authority())
}

func (s *Source) checkDomains() error {
	if len(s.AllowedDomains) > MaxDomains {
		return models.TooLong("allowed_domains", MaxDomains, "domains")
	}
	domains := make(Domains, 0, len(s.AllowedDomains))
	for i, d := range s.AllowedDomains {
		domain, ok := canonicalDomain(d)
		if !ok {
			return models.Invalid(fmt.Sprintf("allowed_domains[%d]", i), "must be a host name such as example.com, or one with a port such as example.com:8080")
		}
		if !slices.Contains(domains, domain) {
			domains = append(domains, domain)
		}
	}
	if len(domains) > 0 && !domains.allow(s.authority(), s.authority()) {
		return models.Invalid("allowed_domains", "must include the host and port of the URL")
	}
	s.AllowedDomains = domains
	return nil
}
