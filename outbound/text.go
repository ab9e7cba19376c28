package outbound

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cleanText makes a stranger's words fit for one line: whitespace collapsed, control characters and the marks that
// reorder or hide text removed, invalid UTF-8 replaced, at most limit runes. It reads no more than it needs.
func cleanText(s string, limit int) string {
	var b strings.Builder
	space, n := false, 0
	for _, r := range s { // an invalid byte comes out as U+FFFD
		if unicode.IsSpace(r) {
			space = n > 0
			continue
		}
		if unicode.IsControl(r) || isBidi(r) {
			continue
		}
		if space {
			n++
		}
		if n >= limit {
			break
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// isBidi tells the invisible characters that change the direction of the text around them, and the byte order mark.
// Those that letters need (zero-width joiners) are not among them.
func isBidi(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 ||
		r == 0x200E || r == 0x200F || r == 0x061C || r == 0xFEFF
}

// cleanURL trims a URL as browsers do in an attribute, and removes what has no place in one: control characters (line
// breaks among them), marks of direction, invalid UTF-8.
func cleanURL(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || isBidi(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s))
}
