package models

import (
	"net/netip"
	"strings"
)

// RepairURL completes a URL as people type it into a form, for ParseURL to check:
//
//   - http:/host, http:host, http:///host and http:\\host get their two slashes;
//   - https://https://host loses the first scheme;
//   - a missing scheme becomes https:// before a name with a dot, and http:// before
//     localhost, a name below it, and an IP address, as in Chrome's address bar.
//     Where the host ends in a number but is not a whole IPv4 address, in a single
//     word, and before user@host, nothing is added: that is hardly a URL.
//
// Anything else is returned as it is, another scheme such as mailto: among it, so
// that ParseURL says what is wrong with it. The API does not repair URLs.
func RepairURL(typed string) string {
	s := cleanURL(typed)
	for _, scheme := range []string{"http:", "https:"} {
		if n := len(scheme); len(s) >= n && strings.EqualFold(s[:n], scheme) {
			rest := strings.TrimLeft(s[n:], `/\`)
			if _, _, twice := cutWebScheme(rest); twice { // pasted behind a scheme that was there already
				return RepairURL(rest)
			}
			return s[:n] + "//" + rest
		}
	}
	rest := s
	if len(s) >= 2 && strings.Trim(s[:2], `/\`) == "" { // "//host": the scheme alone is missing
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

// guessScheme returns the scheme that a host without one gets, and "" if it looks
// like no host.
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
