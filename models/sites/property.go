package sites

import (
	"net/netip"
	"strings"

	"linkwatch/models"
)

// domainPrefix starts the site_url of a domain property, as in the Search Console API.
const domainPrefix = "sc-domain:"

// Property is a Search Console property: all URLs with a prefix, or all URLs of a domain and its subdomains.
type Property struct {
	SiteURL string // "https://example.com/blog/" or "sc-domain:example.com"
	host    string // lower case, punycode, without port
}

// ParseProperty parses a property. It adds a trailing slash to a URL prefix, as Google does. The error is CodeInvalid
// ("site_url").
func ParseProperty(siteURL string) (Property, error) {
	const location = "site_url"
	trimmed := strings.TrimSpace(siteURL)
	if len(trimmed) > len(domainPrefix) && strings.EqualFold(trimmed[:len(domainPrefix)], domainPrefix) {
		name := trimmed[len(domainPrefix):]
		u, err := models.ParseURL(location, "https://"+name)
		if err != nil || u.Canonical != "https://"+u.Host || !strings.Contains(u.Host, ".") || strings.HasSuffix(u.Host, ".") {
			return Property{}, models.Invalid(location, "must be sc-domain: and a domain, such as sc-domain:example.com")
		}
		if _, err := netip.ParseAddr(u.Host); err == nil {
			return Property{}, models.Invalid(location, "must be sc-domain: and a domain, not an IP address")
		}
		return Property{SiteURL: domainPrefix + u.Host, host: u.Host}, nil
	}
	if !strings.Contains(trimmed, "://") {
		return Property{}, models.Invalid(location, "must be a URL such as https://example.com/, or a domain such as sc-domain:example.com")
	}
	u, err := models.ParseURL(location, trimmed)
	if err != nil {
		return Property{}, err
	}
	prefix := u.Requested
	if strings.Contains(prefix, "?") {
		return Property{}, models.Invalid(location, "must not have a query. Use a URL prefix such as https://example.com/")
	}
	if !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	if len(prefix) > models.MaxURL {
		return Property{}, models.TooLong(location, models.MaxURL, "bytes")
	}
	return Property{SiteURL: prefix, host: u.Host}, nil
}

// Domain reports whether it is a domain property.
func (p Property) Domain() bool { return strings.HasPrefix(p.SiteURL, domainPrefix) }

// Host is the host of a URL prefix, or the domain.
func (p Property) Host() string { return p.host }

// Root returns the URL of the root of the host, with https for a domain. robots.txt and the IndexNow key are at this host.
func (p Property) Root() string {
	if p.Domain() {
		return "https://" + p.host + "/"
	}
	scheme, rest, _ := strings.Cut(p.SiteURL, "://")
	authority, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + authority + "/"
}

// Contains reports whether a URL belongs to the property.
func (p Property) Contains(u models.URL) bool {
	if p.Domain() {
		return p.HasHost(u.Host)
	}
	url, prefix := models.UpperEscapes(u.Requested), models.UpperEscapes(p.SiteURL)
	return strings.HasPrefix(url, prefix) || url+"/" == prefix
}

// HasHost reports whether a host is that of the property, or a subdomain of a domain property.
func (p Property) HasHost(host string) bool {
	return host == p.host || p.Domain() && strings.HasSuffix(host, "."+p.host)
}
