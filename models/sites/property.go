package sites

import (
	"net/netip"
	"strings"

	"linkwatch/models"
)

// domainPrefix begins the site_url of a domain property, as in the Search Console API.
const domainPrefix = "sc-domain:"

// Property is a website as Google's Search Console knows it: all URLs that begin with
// a prefix, or all of a domain and the hosts below it.
type Property struct {
	SiteURL string // "https://example.com/blog/" or "sc-domain:example.com"
	host    string // in lower case, punycode, without port
}

// ParseProperty reads a property. A URL prefix gets a slash at its end, since Google
// registers it so. The error is CodeInvalid ("site_url").
func ParseProperty(siteURL string) (Property, error) {
	const location = "site_url"
	trimmed := strings.TrimSpace(siteURL)
	if len(trimmed) > len(domainPrefix) && strings.EqualFold(trimmed[:len(domainPrefix)], domainPrefix) {
		name := trimmed[len(domainPrefix):]
		u, err := models.ParseURL(location, "https://"+name)
		if err != nil || u.Canonical != "https://"+u.Host || !strings.Contains(u.Host, ".") || strings.HasSuffix(u.Host, ".") {
			return Property{}, models.Invalid(location, "must have a domain after sc-domain:, such as sc-domain:example.com")
		}
		if _, err := netip.ParseAddr(u.Host); err == nil {
			return Property{}, models.Invalid(location, "must have a domain after sc-domain:, not an IP address")
		}
		return Property{SiteURL: domainPrefix + u.Host, host: u.Host}, nil
	}
	if !strings.Contains(trimmed, "://") {
		return Property{}, models.Invalid(location, "must be a URL such as https://example.com/, or sc-domain: and a domain, such as sc-domain:example.com")
	}
	u, err := models.ParseURL(location, trimmed)
	if err != nil {
		return Property{}, err
	}
	prefix := u.Requested
	if strings.Contains(prefix, "?") {
		return Property{}, models.Invalid(location, "must not have a query: a property is a URL prefix, such as https://example.com/")
	}
	if !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	if len(prefix) > models.MaxURL {
		return Property{}, models.Invalid(location, "is longer than %d bytes", models.MaxURL)
	}
	return Property{SiteURL: prefix, host: u.Host}, nil
}

// Domain reports whether it is a domain property.
func (p Property) Domain() bool { return strings.HasPrefix(p.SiteURL, domainPrefix) }

// Host is the host of a URL prefix, or the domain.
func (p Property) Host() string { return p.host }

// Root is the URL of the website's front page, over HTTPS for a domain. robots.txt and
// the IndexNow key are looked for at its host.
func (p Property) Root() string {
	if p.Domain() {
		return "https://" + p.host + "/"
	}
	scheme, rest, _ := strings.Cut(p.SiteURL, "://")
	authority, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + authority + "/"
}

// Contains reports whether a page belongs to the property.
func (p Property) Contains(u models.URL) bool {
	if p.Domain() {
		return p.HasHost(u.Host)
	}
	return strings.HasPrefix(u.Requested, p.SiteURL) || u.Requested+"/" == p.SiteURL
}

// HasHost reports whether a host is that of the property, or of a domain property one
// below it.
func (p Property) HasHost(host string) bool {
	return host == p.host || p.Domain() && strings.HasSuffix(host, "."+p.host)
}
