package shortlinks

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/idna"

	"github.com/linkwatch/linkwatch/models"
)

// destination checks where a short link is to lead: as any URL (contract §1),
// to no blocked host, and not to another short link here, which might lead back.
func (o Options) destination(longURL string) (models.URL, error) {
	u, err := models.ParseURL("long_url", longURL)
	if err != nil {
		return models.URL{}, err
	}
	if isAmong(u.Host, o.BlockedHosts) {
		return models.URL{}, models.Invalid("long_url", "leads to a host that this server does not link to")
	}
	if o.isOurs(u) {
		return models.URL{}, models.Invalid("long_url", "is itself a short link of this server; give the address that it leads to")
	}
	return u, nil
}

// isAmong says whether a host is one of hosts, or below one of them.
func isAmong(host string, hosts []string) bool {
	host = strings.TrimSuffix(host, ".")
	for _, h := range hosts {
		if host == h || strings.HasSuffix(host, "."+h) {
			return true
		}
	}
	return false
}

// isOurs says whether an address is that of a short link, however it spells its
// path: browsers and routers read "/./s/" and "/%73/" as "/s/".
func (o Options) isOurs(u models.URL) bool {
	_, rest, _ := strings.Cut(u.Canonical, "://")
	authority, _, _ := strings.Cut(rest, "/")
	switch {
	case o.ShortHost != "" && u.Host == o.ShortHost:
		return true
	case slices.Contains(o.Own, authority):
		at, err := url.Parse(u.Canonical)
		return err != nil || strings.HasPrefix(path.Clean("/"+at.Path), "/s/")
	}
	return false
}

// location is an address as the header Location takes it (RFC 9110, 10.2.2):
// ASCII, with an international host in punycode. An address that is so already
// stays as it is, sign by sign.
func location(longURL string) (string, error) {
	u, err := url.Parse(longURL)
	if err != nil {
		return "", fmt.Errorf("reading where a short link leads: %w", err)
	}
	if strings.ContainsFunc(u.Hostname(), func(r rune) bool { return r >= 0x80 }) {
		host, err := idna.Lookup.ToASCII(strings.ToLower(u.Hostname())) // as models.ParseURL did to allow it
		if err != nil {
			return "", fmt.Errorf("reading the host that a short link leads to: %w", err)
		}
		if port := u.Port(); port != "" {
			host += ":" + port
		}
		u.Host = host
		longURL = u.String()
	}
	var b strings.Builder
	for i := range len(longURL) {
		if c := longURL[i]; c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}
