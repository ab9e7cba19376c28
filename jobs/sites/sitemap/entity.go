package sitemap

import (
	"bytes"
	"strconv"
	"unicode"
	"unicode/utf8"
)

const maxEntity = 64 // bytes of a name or number

var entities = map[string]byte{"amp": '&', "lt": '<', "gt": '>', "quot": '"', "apos": '\''}

// unescape appends text to b and resolves the five XML entities and numeric references. An & without an entity is kept, since
// many sitemaps do not escape it. ok is false for other entities.
func unescape(b, text []byte) (out []byte, ok bool) {
	ok = true
	for {
		at := bytes.IndexByte(text, '&')
		if at < 0 {
			return append(b, text...), ok
		}
		b = append(b, text[:at]...)
		text = text[at+1:]
		name, r := entityName(text)
		if name == nil {
			b = append(b, '&')
			continue
		}
		text = text[len(name)+1:]
		switch c, found := entities[string(name)]; {
		case found:
			b = append(b, c)
		case r >= 0:
			b = utf8.AppendRune(b, r)
		default:
			ok = false
		}
	}
}

// entityName returns the entity at the start of text, without its semicolon; nil = none. r is the character of a numeric
// reference; -1 = none.
func entityName(text []byte) (name []byte, r rune) {
	end := bytes.IndexByte(text[:min(len(text), maxEntity+1)], ';')
	if end <= 0 {
		return nil, -1
	}
	name = text[:end]
	if name[0] != '#' {
		if bytes.ContainsFunc(name, func(r rune) bool { return !isNameRune(r) }) {
			return nil, -1
		}
		return name, -1
	}
	digits, base := string(name[1:]), 10
	if len(digits) > 1 && digits[0]|0x20 == 'x' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 31)
	if err != nil || n == 0 || !utf8.ValidRune(rune(n)) {
		return name, -1
	}
	return name, rune(n)
}

// isNameRune reports whether the name of an entity may contain r. XML allows more, but those are more likely part of a URL.
func isNameRune(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
