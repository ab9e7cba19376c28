package outbound

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cleanText makes a stranger's words fit for one line: whitespace collapsed, hidden characters removed, invalid UTF-8
// replaced, at most limit runes. It reads no more than it needs.
func cleanText(s string, limit int) string {
	var b strings.Builder
	space, n := false, 0
	for _, r := range s { // an invalid byte comes out as U+FFFD
		if unicode.IsSpace(r) {
			space = n > 0
			continue
		}
		if hidden(r) {
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

// hidden tells control and format characters: NUL, zero-width ones, the byte order mark, and those that change the
// direction of the text around them. The joiners that letters and emoji need are not among them.
func hidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf) && r != '\u200C' && r != '\u200D'
}

// cleanURL trims a URL as browsers do in an attribute, and removes what has no place in one: hidden characters (line
// breaks among them) and invalid UTF-8.
func cleanURL(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if hidden(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s))
}
