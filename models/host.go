package models

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/idna"
)

const maxHost = 253 // bytes of a DNS name, without the dot at its end

// CanonicalHost returns the host of a URL as a browser parses it, so that two
// spellings of one host compare equal. It follows the WHATWG URL standard: lower
// case, punycode, no percent-encoding, and IPv4 shorthand such as 127.1 in full.
// Beyond the standard, the dot at the end of a name is removed, and an
// IPv4-mapped IPv6 address becomes the IPv4 address.
//
// host has no port. The brackets of an IPv6 address are optional, and the result
// has none. ok is false for a host that cannot exist in DNS.
// Calling it with its own result returns that result.
func CanonicalHost(host string) (canonical string, ok bool) {
	if isPlainName(host) && len(host) <= maxHost {
		return host, true
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Zone() == "" {
		return ip.Unmap().String(), true
	}
	if canonical, ok = browserHost(host); !ok {
		return "", false
	}
	if ip, err := netip.ParseAddr(canonical); err == nil {
		return ip.Unmap().String(), true
	}
	canonical = strings.TrimSuffix(canonical, ".")
	if canonical == "" || len(canonical) > maxHost || strings.HasPrefix(canonical, ".") || strings.HasSuffix(canonical, ".") ||
		strings.Contains(canonical, "..") {
		return "", false
	}
	return canonical, true
}

// browserHost returns the host of an http or https URL as the host parser of the
// WHATWG URL standard does, and false where that fails. An IPv6 address has
// brackets in host, and none in the result. Calling it with its own result, in
// brackets if it is an IPv6 address, returns that result.
//
// It is stricter than the standard where the last label is a number with a sign:
// the standard parses 127.0.0.-1 as a name.
func browserHost(host string) (string, bool) {
	if isPlainName(host) { // nearly every host
		return host, true
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is4() {
		return host, true
	}
	if strings.HasPrefix(host, "[") {
		return readIPv6(host)
	}
	name, ok := mapName(host)
	if !ok || !endsInNumber(name) {
		return name, ok
	}
	if strings.ContainsAny(name, "+-") { // the library parses 127.0.0.-1 as an IPv4 address
		return "", false
	}
	u, err := whatwg.Parse("http://" + name + "/")
	if err != nil {
		return "", false
	}
	return u.Hostname(), true
}

// isPlainName reports whether host is a name that a browser does not change. Such a name
// is lower-case ASCII, without punycode, empty labels or a last label that could be a
// number.
func isPlainName(host string) bool {
	if strings.Contains(host, "xn--") {
		return false
	}
	label := 0 // start of the last label
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

// readIPv6 reads an IPv6 address in brackets, which has no zone in a URL.
func readIPv6(host string) (string, bool) {
	inner, ok := strings.CutSuffix(host[1:], "]")
	ip, err := netip.ParseAddr(inner)
	if !ok || err != nil || !ip.Is6() || ip.Zone() != "" {
		return "", false
	}
	if ip.Is4In6() { // netip writes ::ffff:127.0.0.1, a browser ::ffff:7f00:1
		b := ip.As16()
		return fmt.Sprintf("::ffff:%x:%x", uint(b[12])<<8|uint(b[13]), uint(b[14])<<8|uint(b[15])), true
	}
	return ip.String(), true
}

// idnaMapping is "domain to ASCII" of the URL standard: UTS 46 processing,
// non-transitional, without the rules that only registries need. The library's own
// profile refuses an underscore in a label with letters beyond ASCII.
var idnaMapping = idna.New(
	idna.MapForLookup(), idna.BidiRule(), idna.CheckJoiners(true), idna.ValidateLabels(true),
	idna.CheckHyphens(false), idna.StrictDomainName(false), idna.VerifyDNSLength(false), idna.Transitional(false),
)

// mapName decodes a name and maps it to lower-case ASCII. The mapping comes before
// anything else: strings.ToLower would make i.example of İ.example.
func mapName(host string) (string, bool) {
	if len(host) > MaxURL {
		return "", false
	}
	host, err := url.PathUnescape(host)
	if err != nil || !utf8.ValidString(host) {
		return "", false
	}
	name := strings.ToLower(host)
	if !IsASCII(host) || strings.Contains(name, "xn--") {
		// Unicode maps ẞ to ß since version 15.1. The tables of Go 1.26 are older and map it to ss.
		if name, err = idnaMapping.ToASCII(strings.ReplaceAll(host, "ẞ", "ß")); err != nil {
			return "", false
		}
		// Punycode that maps differently the second time has no canonical form.
		if again, err := idnaMapping.ToASCII(name); err != nil || again != name {
			return "", false
		}
	}
	if name == "" || strings.ContainsFunc(name, forbiddenInDomain) {
		return "", false
	}
	return name, true
}

// forbiddenInDomain reports whether r is a forbidden domain code point of the URL standard.
func forbiddenInDomain(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune(`#/:<>?@[\]^|%`, r)
}

// endsInNumber reports whether the last label of a name is a number, so that the URL standard
// reads the name as an IPv4 address. A dot at the end of the name and signs are ignored.
func endsInNumber(name string) bool {
	name = strings.TrimSuffix(name, ".")
	last := strings.TrimLeft(name[strings.LastIndexByte(name, '.')+1:], "+-")
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(strings.TrimLeft(hex, "+-"), "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}
