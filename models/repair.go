package models

import (
	"net/netip"
	"strings"
)

// RepairURL completes a URL that was typed into a form. ParseURL then validates it.
//
//   - http:/host, http:host, http:///host and http:\\host get two slashes;
//   - https://https://host loses the first scheme;
//   - a missing scheme becomes https:// before a name with a dot, and http:// before
//     localhost, a name below it, and an IP address, as in Chrome's address bar.
//     Nothing is added to a single word, to user@host, or to a host that ends in a
//     number but is no complete IPv4 address.
//
// Anything else, such as mailto:, is returned unchanged, and ParseURL reports what is
// wrong. The API does not repair URLs.
func RepairURL(typed string) string {
	s := cleanURL(typed)
	for _, scheme := range []string{"http:", "https:"} {
		if n := len(scheme); len(s) >= n && strings.EqualFold(s[:n], scheme) {
			rest := strings.TrimLeft(s[n:], `/\`)
			if _, _, twice := cutWebScheme(rest); twice { // pasted after a scheme
				return RepairURL(rest)
			}
			return s[:n] + "//" + rest
		}
	}
	rest := s
	if len(s) >= 2 && strings.Trim(s[:2], `/\`) == "" { // "//host": only the scheme is missing
		rest = strings.TrimLeft(s, `/\`)
	}
	authority, _ := cutAuthority(rest)
	authority, _, _ = strings.Cut(authority, "#")
	name, port := splitPort(authority)
	if port != "" && (len(port) < 2 || len(port) > 6 || strings.Trim(port[1:], "0123456789") != "") {
		return s // the colon of another scheme: "javascript:…"
	}
	switch guessScheme(name) {
	case "http":
		return "http://" + rest
	case "https":
		return "https://" + rest
	}
	return s
}

// guessScheme returns the scheme to add to a host, or "" if name does not look like a host.
func guessScheme(name string) string {
	if inner, ok := strings.CutPrefix(name, "["); ok {
		name = strings.TrimSuffix(inner, "]")
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return "http"
	}
	host, ok := browserHost(name)
	if !ok || strings.ContainsAny(host, "!\"$&'()*+,;=`{}~") || strings.HasPrefix(host, ".") || strings.Contains(host, "..") {
		return ""
	}
	switch bare := strings.TrimSuffix(host, "."); {
	case bare == "localhost" || strings.HasSuffix(bare, ".localhost"):
		return "http"
	case strings.Contains(bare, ".") && !endsInNumber(bare):
		return "https"
	}
	return ""
}
