package outbound

import (
	"net/http"
	"strings"
)

// headerCanonical returns the canonical URL that the Link headers of a response name for the page base, or "".
func headerCanonical(header http.Header, base string) string {
	named := canonicalOf(header)
	if named == "" {
		return ""
	}
	return newResolver(base, "").resolve(named)
}

// canonicalOf returns the unresolved target of the first rel=canonical link in the Link headers of a response (RFC 8288), or
// "". It skips links about another page (anchor=…) and the rest of an invalid line. Its work is linear in the size of the
// headers.
func canonicalOf(header http.Header) string {
	for _, line := range header["Link"] {
		for line = strings.TrimLeft(line, " \t,"); strings.HasPrefix(line, "<"); line = strings.TrimLeft(line, " \t,") {
			target, rest, closed := strings.Cut(line[1:], ">")
			if !closed {
				break
			}
			var rel string
			var anchored, named bool
			for rest = strings.TrimLeft(rest, " \t"); strings.HasPrefix(rest, ";"); rest = strings.TrimLeft(rest, " \t") {
				var name, value string
				name, value, rest = linkParameter(rest[1:])
				switch {
				case strings.EqualFold(name, "anchor"):
					anchored = true
				case strings.EqualFold(name, "rel") && !named: // only the first rel counts
					rel, named = value, true
				}
			}
			if !anchored && hasToken(rel, "canonical") {
				return strings.TrimSpace(target)
			}
			line = rest
		}
	}
	return ""
}

// linkParameter splits off the first parameter, such as rel="a b" or rel=a.
func linkParameter(s string) (name, value, rest string) {
	end := strings.IndexAny(s, "=;,")
	if end < 0 {
		return strings.TrimSpace(s), "", ""
	}
	name, rest = strings.TrimSpace(s[:end]), s[end:]
	if rest[0] != '=' {
		return name, "", rest
	}
	rest = strings.TrimLeft(rest[1:], " \t")
	if !strings.HasPrefix(rest, `"`) {
		if end = strings.IndexAny(rest, ";,"); end < 0 {
			end = len(rest)
		}
		return name, strings.TrimSpace(rest[:end]), rest[end:]
	}
	var b strings.Builder
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '"':
			return name, b.String(), rest[i+1:]
		case c == '\\' && i+1 < len(rest):
			i++
			b.WriteByte(rest[i])
		default:
			b.WriteByte(c)
		}
	}
	return name, b.String(), "" // the quote is not closed
}
