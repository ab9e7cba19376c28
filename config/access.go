package config

import (
	"net/netip"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

var roles = []string{"admin", "editor", "viewer"}

const (
	maxOIDCName = 50  // characters: it is shown on a button
	maxOIDCID   = 256 // bytes of a client ID, or of the name of a claim or header
)

func validRole(name string) bool { return slices.Contains(roles, name) }

func validDefaultRole(name string) bool { return name == NoRole || validRole(name) }

// validIssuer accepts http on this machine only: anyone who can change the responses of an issuer can sign in as any user.
func validIssuer(s string) bool {
	u, err := url.Parse(s)
	return err == nil && validSearchURL(s) && u.User == nil && (u.Scheme == "https" || isLoopback(u.Hostname()))
}

// mayOmitPublicURL reports whether PUBLIC_URL is set or optional. An identity provider redirects browsers to it. For a
// provider on this machine, as in development, the host of the request is used instead.
func (c *Config) mayOmitPublicURL() bool {
	u, err := url.Parse(c.OIDCIssuer)
	return c.PublicURL != "" || err != nil || !validIssuer(c.OIDCIssuer) || isLoopback(u.Hostname())
}

func (c *Config) validClientID() bool {
	return token.MatchString(c.OIDCClientID) && len(c.OIDCClientID) <= maxOIDCID && (c.OIDCClientID != "" || c.OIDCIssuer == "")
}

func validOIDCName(s string) bool {
	return strings.TrimSpace(s) == s && s != "" && utf8.RuneCountInString(s) <= maxOIDCName && isPrintable(s)
}

func validClaim(s string) bool {
	return strings.TrimSpace(s) == s && len(s) <= maxOIDCID && isPrintable(s)
}

// validJWTRule accepts a value only together with AUTH_JWT_SECRET, without which it would have no effect.
func (c *Config) validJWTRule(s string) bool {
	return s == "" || c.AuthJWTSecret != "" && validClaim(s)
}

func isPrintable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

func (c *Config) tidyScopes() bool {
	for i, scope := range c.OIDCScopes {
		scope = strings.TrimSpace(scope)
		if scope == "" || !token.MatchString(scope) || strings.ContainsAny(scope, `"\`) { // RFC 6749, 3.3
			return false
		}
		c.OIDCScopes[i] = scope
	}
	return true
}

// tidyOIDCRoles trims the pairs. A pair is split at its last "=", since a value can contain one.
func (c *Config) tidyOIDCRoles() bool {
	seen := map[string]bool{}
	for i, pair := range c.OIDCRoles {
		value, role := splitRole(pair)
		if value == "" || !validRole(role) || seen[value] {
			return false
		}
		seen[value] = true
		c.OIDCRoles[i] = value + "=" + role
	}
	return len(c.OIDCRoles) == 0 || c.OIDCRoleClaim != ""
}

func splitRole(pair string) (value, role string) {
	i := strings.LastIndexByte(pair, '=')
	if i < 0 {
		return "", ""
	}
	return strings.TrimSpace(pair[:i]), strings.TrimSpace(pair[i+1:])
}

// OIDCRoleMap returns OIDCRoles as a map from values of the claim to roles.
func (c Config) OIDCRoleMap() map[string]string {
	m := make(map[string]string, len(c.OIDCRoles))
	for _, pair := range c.OIDCRoles {
		value, role := splitRole(pair)
		m[value] = role
	}
	return m
}

func (c *Config) tidyDomains() bool {
	for i, domain := range c.OIDCAllowedDomains {
		domain = strings.ToLower(strings.TrimSpace(domain))
		if !validHost(domain) || !strings.Contains(domain, ".") {
			return false
		}
		if _, err := netip.ParseAddr(domain); err == nil {
			return false
		}
		c.OIDCAllowedDomains[i] = domain
	}
	return true
}

// standardHeaders are headers with another purpose, which cannot name a user. So are those that begin with X-Forwarded-.
var standardHeaders = []string{
	"Authorization", "Proxy-Authorization", "Cookie", "Host", "Forwarded", "X-Real-Ip", "User-Agent", "Origin", "Referer",
	"Connection", "Content-Length", "Content-Type",
}

func (c *Config) tidyProxyHeader() bool {
	name := textproto.CanonicalMIMEHeaderKey(c.AuthProxyHeader)
	if notToken.MatchString(name) || slices.Contains(standardHeaders, name) || strings.HasPrefix(name, "X-Forwarded-") || len(name) > maxOIDCID {
		return false
	}
	c.AuthProxyHeader = name
	return true
}

// validProxyFrom requires both settings or none. It refuses a network of all addresses: anyone could sign in as any user.
func (c *Config) validProxyFrom() bool {
	all := slices.ContainsFunc(c.AuthProxyFrom, func(p netip.Prefix) bool { return p.Bits() == 0 })
	return !all && (len(c.AuthProxyFrom) > 0) == (c.AuthProxyHeader != "")
}
