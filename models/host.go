package models

import (
	"net/netip"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

const maxHost = 253 // bytes of a DNS name, without the dot at its end

// CanonicalHost returns the host of a URL as a browser reads it, so that two
// spellings of one host compare equal. It follows the WHATWG URL standard: lower
// case, punycode, no percent-encoding, and IPv4 shorthand such as 127.1 in full.
// Beyond the standard, the dot at the end of a name is removed, and an
// IPv4-mapped IPv6 address becomes the IPv4 address.
//
// host has no port. The brackets of an IPv6 address are optional, and the result
// has none. ok is false if no browser opens such a host.
// Calling it with its own result returns that result.
func CanonicalHost(host string) (canonical string, ok bool) {
	if isPlainName(host) { // nearly every host: the parser takes a hundred times as long
		return host, true
	}
	if ip, ok := readIP(host); ok {
		return ip, true
	}
	canonical, ok = readName(host)
	if !ok || isPlainName(canonical) {
		return canonical, ok
	}
	if ip, ok := readIP(canonical); ok {
		return ip, true
	}
	// Punycode that is read differently the second time has no canonical form.
	if again, ok := readName(canonical); !ok || again != canonical {
		return "", false
	}
	return canonical, true
}

// isPlainName reports whether host is a canonical name that needs no parser:
// no punycode, and no last label that could be a number.
func isPlainName(host string) bool {
	if host == "" || len(host) > maxHost || host[0] == '.' || strings.Contains(host, "xn--") {
		return false
	}
	label := 0 // where the last label begins
	for i := range len(host) {
		switch c := host[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_':
		case c == '.' && i > label:
			label = i + 1
		default:
			return false
		}
	}
	return label < len(host) && 'a' <= host[label] && host[label] <= 'z'
}

// readIP reads an address in its usual notation, with or without the brackets of IPv6.
func readIP(host string) (string, bool) {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		if inner, ok = strings.CutSuffix(inner, "]"); !ok || !strings.Contains(inner, ":") {
			return "", false
		}
		host = inner
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.Zone() != "" {
		return "", false
	}
	return ip.Unmap().String(), true
}

// readName reads anything but an IPv6 address; IPv4 shorthand too.
func readName(host string) (canonical string, ok bool) {
	// None of these is part of a name: they would end it, or give it a port or a user.
	if len(host) > MaxURL || strings.ContainsAny(host, `:/\?#@[]`) {
		return "", false
	}
	u, err := whatwg.Parse("http://" + host + "/")
	if err != nil {
		return "", false
	}
	canonical = strings.TrimSuffix(u.Hostname(), ".")
	if canonical == "" || len(canonical) > maxHost || strings.HasPrefix(canonical, ".") || strings.HasSuffix(canonical, ".") ||
		strings.Contains(canonical, "..") {
		return "", false
	}
	// The parser takes a number with a sign for a part of an address; the standard does not.
	if u.IsIPv4() && signed(host) {
		return "", false
	}
	return canonical, true
}

// signed reports whether host, as its letters are once they are mapped, has a sign of a number.
func signed(host string) bool {
	u, err := whatwg.Parse("http://" + strings.TrimSuffix(host, ".") + ".x/") // a name, whatever is before it
	return err != nil || strings.ContainsAny(u.Hostname(), "+-")
}
