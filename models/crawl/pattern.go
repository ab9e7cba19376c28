package crawl

import (
	"slices"
	"strings"
)

// MaxPerPattern is the maximum number of pages of one Pattern that a crawl reads.
const MaxPerPattern = 10_000

// Pattern returns the pattern of a URL: its host, its path and the sorted names of its parameters. In the path, "#"
// replaces each segment that is a number, a date or an id. Example: "example.com/blog/#/#?page". An id is a UUID or at
// least eight hexadecimal digits.
func Pattern(u string) string {
	host, path, query := splitURL(u)
	var b strings.Builder
	b.Grow(len(u))
	b.WriteString(host)
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		b.WriteByte('/')
		if isKey(segment) {
			segment = "#"
		}
		b.WriteString(segment)
	}
	if query == "" {
		return b.String()
	}
	names := strings.Split(query, "&")
	for i, p := range names {
		names[i], _, _ = strings.Cut(p, "=")
	}
	slices.Sort(names)
	b.WriteByte('?')
	b.WriteString(strings.Join(slices.Compact(names), "&"))
	return b.String()
}

// isKey reports whether a path segment identifies one of many similar pages.
func isKey(segment string) bool {
	digits, hex, dashes := 0, 0, 0
	for i := range len(segment) {
		switch c := segment[i]; {
		case '0' <= c && c <= '9':
			digits++
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			hex++
		case c == '-':
			dashes++
		default:
			return false
		}
	}
	switch {
	case dashes == 0:
		return hex == 0 && digits > 0 || hex+digits >= 8
	case hex == 0:
		_, _, ok := readMonth(segment)
		return ok || isUUID(segment)
	}
	return isUUID(segment)
}

// isUUID reports whether s, which consists of hexadecimal digits and dashes, is a UUID.
func isUUID(s string) bool {
	return len(s) == 36 && strings.Count(s, "-") == 4 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-'
}
